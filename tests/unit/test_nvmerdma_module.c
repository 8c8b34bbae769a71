// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma/rdma/module.c, doctor/modules.c: whose a module is, and the findings about it */
#include "machine.h"

#include "tools/nvmerdma/rdma/rdma.h"

#define DKMS	"/lib/modules/6.12.1/updates/dkms/"
#define TREE	"/lib/modules/6.12.1/kernel/drivers/nvme/"

static void files(void **state)
{
	static const struct {
		const char *path, *description;
		enum module_whose whose;
	} rows[] = {
		{ DKMS "nvme-rdma.ko", "NVMe over RDMA host", MODULE_OURS },
		{ DKMS "nvmet-rdma.ko.xz", "NVMe over RDMA target", MODULE_OURS },
		{ "/tmp/nvme-rdma.ko", "NVMe over RDMA host", MODULE_OURS },
		{ TREE "host/nvme-rdma.ko", NULL, MODULE_KERNELS },
		{ TREE "host/nvme-rdma.ko", "NVMe host RDMA transport driver", MODULE_KERNELS },
		/* mlnx-nvme's are installed by DKMS, too, and have versions */
		{ DKMS "nvme-rdma.ko", NULL, MODULE_OTHERS },
		{ DKMS "nvme-rdma.ko", "NVMe host RDMA transport driver", MODULE_OTHERS },
		{ "/lib/modules/6.12.1/extra/mlnx-nvme/nvme-rdma.ko", "", MODULE_OTHERS },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		unit_context("%s, %s", rows[i].path, rows[i].description);
		unit_equal(rows[i].whose, module_whose(rows[i].path, rows[i].description));
	}
}

static void loaded(void **state)
{
	(void)state;
	file_is("sys/module/nvmet_rdma/version", "4.0\n");
	file_is("sys/module/nvme_rdma/parameters/register_always", "Y\n");
	assert_false(module_loaded_is_ours(root, "nvmet_rdma"));
	assert_false(module_loaded_is_ours(root, "nvme_rdma"));
	file_is("sys/module/nvmet_rdma/parameters/host_pending", "1024\n");
	file_is("sys/module/nvme_rdma/parameters/fabrics_tmo", "15\n");
	assert_true(module_loaded_is_ours(root, "nvmet_rdma"));
	assert_true(module_loaded_is_ours(root, "nvme_rdma"));
	assert_int_equal(system(mem_fmt("rm -r %s/sys/module", root)), 0);
}

static void checks(void **state)
{
	struct program modinfo[] = {
		{ "modinfo -n nvme-rdma", DKMS "nvme-rdma.ko" },
		{ "modinfo -F version nvme-rdma", "4.0" },
		{ "modinfo -F description nvme-rdma", "NVMe host RDMA transport driver" },
		{ NULL, NULL }
	};
	struct doctor d = machine(modinfo);

	(void)state;
	check_module_host(&d);
	finds(&d, FOUND_WARNING,
	      "nvme-rdma is not ours, nor the kernel's own: " DKMS "nvme-rdma.ko");
	no_command_has(&d, "apt install");

	modinfo[2].says = "NVMe over RDMA host";
	d = machine(modinfo);
	check_module_host(&d);
	finds(&d, FOUND_OK, "nvme-rdma is ours, version 4.0, not loaded");

	modinfo[0].says = TREE "host/nvme-rdma.ko";
	modinfo[2].says = "NVMe host RDMA transport driver";
	d = machine(modinfo);
	check_module_host(&d);
	finds(&d, FOUND_WARNING, "nvme-rdma is the kernel's own module");
	mends(&d, 0, "apt install ./nvme-rdma-dkms_*.deb");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(loaded),
		cmocka_unit_test(checks),
	};

	return run_on_machine(tests, NR(tests));
}
