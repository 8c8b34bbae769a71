// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma: numbers, addresses of ports, names of disks, as people and others write them */
#include "harness.h"

#include <string.h>
#include <sys/socket.h>

#include "tools/nvmerdma/disk/disk.h"
#include "tools/nvmerdma/common/util.h"
#include "tools/nvmerdma/rdma/rdma.h"

#define A	"nqn.2026-01.test:a"

static void numbers(void **state)
{
	static const struct {
		const char *text;
		unsigned long value;	/* 0: refused */
	} rows[] = {
		{ "1", 1 }, { "4420", 4420 }, { "04420", 4420 }, { "010", 10 }, { "0", 0 },
		{ "0x10", 0 }, { "65535", 65535 }, { "65536", 0 }, { "", 0 }, { "-1", 0 },
		{ " 1", 0 }, { "1 ", 0 }, { "1k", 0 }, { "99999999999999999999", 0 },
	};
	unsigned long value;
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		unit_context("\"%s\"", rows[i].text);
		if (number_option("--port", rows[i].text, 1, 65535, &value))
			value = 0;
		unit_equal(rows[i].value, value);
	}
}

/* Which port an export uses where there is one at @traddr:@trsvcid; 0: it is refused */
static size_t ports_with(const char *trtype, const char *traddr, const char *trsvcid,
			 const char *text)
{
	const struct rdma_addr addr = {
		.text = text, .family = strchr(text, ':') ? AF_INET6 : AF_INET,
	};
	const struct port_wish wish = { .service = "4420" };
	struct node *root = node_root(), *port = node_add(root, &schema_port, "1");

	node_set(port, "addr_trtype", trtype);
	node_set(port, "addr_traddr", traddr);
	node_set(port, "addr_trsvcid", trsvcid);
	return ports_offer(root, &addr, &wish, A) ? 0 : node_count(root, &schema_port);
}

static void ports(void **state)
{
	static const struct {
		const char *trtype, *traddr, *trsvcid, *addr;
		size_t ports;		/* then; 0: it is refused */
	} rows[] = {
		{ "rdma", "192.0.2.1", "4420", "192.0.2.1", 1 },
		{ "rdma", "192.0.2.1", "04420", "192.0.2.1", 1 },
		{ "rdma", "192.0.2.1", "4421", "192.0.2.1", 2 },
		{ "rdma", "192.0.2.2", "4420", "192.0.2.1", 2 },
		{ "tcp", "192.0.2.1", "4420", "192.0.2.1", 2 },
		{ "rdma", "2001:db8:0:0::1", "4420", "2001:db8::1", 1 },
		{ "rdma", "2001:DB8::1", "4420", "2001:db8::1", 1 },
		{ "rdma", "2001:db8::2", "4420", "2001:db8::1", 2 },
		{ "rdma", "fe80::1%eth0", "4420", "fe80::1%eth0", 1 },
		{ "rdma", "fe80::1%eth1", "4420", "fe80::1%eth0", 2 },
		{ "rdma", "0.0.0.0", "4420", "192.0.2.1", 0 },
		{ "rdma", "0.0.0.0", "4421", "192.0.2.1", 2 },
		{ "rdma", "0.0.0.0", "4420", "2001:db8::1", 2 },
		{ "rdma", "::", "4420", "2001:db8::1", 0 },
		{ "rdma", "::", "4420", "192.0.2.1", 2 },
		{ "rdma", "", "", "192.0.2.1", 2 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		unit_context("%s at %s:%s, for %s", rows[i].trtype, rows[i].traddr,
			     rows[i].trsvcid, rows[i].addr);
		unit_equal(rows[i].ports, ports_with(rows[i].trtype, rows[i].traddr,
						     rows[i].trsvcid, rows[i].addr));
	}
}

/* Of the names in /dev/disk/by-id, in any order */
static void lasting_names(void **state)
{
	static const struct {
		const char *names[4], *best;
	} rows[] = {
		{ { "nvme-SSD_9000_S1", "nvme-SSD_9000_S1_1", "nvme-eui.0025385b71b0a1e2" },
		  "nvme-eui.0025385b71b0a1e2" },
		{ { "ata-DISK_S1", "wwn-0x5000c500a1b2c3d4" }, "wwn-0x5000c500a1b2c3d4" },
		{ { "lvm-pv-uuid-x", "virtio-one" }, "virtio-one" },
		{ { "md-name-a:0", "md-uuid-c0ffee" }, "md-uuid-c0ffee" },
		{ { "lvm-pv-uuid-x" }, NULL },
	};
	size_t i, k;
	int back;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		for (back = 0; back < 2; back++) {
			const char *best = NULL;

			for (k = 0; k < 4; k++) {
				const char *name = rows[i].names[back ? 3 - k : k];

				if (name && persistent_better(name, best))
					best = name;
			}
			unit_context("row %zu, %s", i, best ?: "none");
			unit_equal(1, rows[i].best ? best && !strcmp(best, rows[i].best) : !best);
		}
	}
}

/* Whether a path can lead to no other disk */
static void sure_names(void **state)
{
	static const struct {
		const char *path;
		bool sure;
	} rows[] = {
		{ "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4", true },
		{ "/dev/disk/by-id/ata-DISK_S1", true },
		{ "/dev/disk/by-id/dm-uuid-LVM-abc", true },
		{ "/dev/disk/by-id/dm-name-vg0-lv0", false },
		{ "/dev/disk/by-id/md-name-a:0", false },
		{ "/dev/disk/by-id/lvm-pv-uuid-x", false },
		{ "/dev/disk/by-path/pci-0000:00:1f.2-ata-1", false },
		{ "/dev/mapper/vg0-lv0", false },
		{ "/dev/sdb", false },
		{ "/x", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		unit_context("%s", rows[i].path);
		unit_equal(rows[i].sure, persistent_sure(rows[i].path));
	}
}

/* Names that device mapper or udev makes, and links that are the kernel's numbers */
static void made_names(void **state)
{
	static const struct {
		const char *path;
		bool made;
	} rows[] = {
		{ "/dev/mapper/vg0-lv0", true },
		{ "/dev/zvol/tank/vm/disk-1", true },
		{ "/dev/rbd/pool/image", true },
		{ "/dev/drbd/by-res/r0/0", true },
		{ "/dev/drbd/by-disk/sda", false },
		{ "/dev/disk/by-id/virtio-one", true },
		{ "/dev/disk/by-path/pci-0000:00:05.0", false },
		{ "/dev/disk/by-diskseq/7", false },
		{ "/dev/zvol", false },
		{ "/dev/zvols/a", false },
		{ "/dev/zd0", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		unit_context("%s", rows[i].path);
		unit_equal(rows[i].made, persistent_made(rows[i].path));
	}
	unit_context("a link that is a number");
	unit_equal(false, persistent_is("/proc/self/exe"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(ports),
		cmocka_unit_test(lasting_names),
		cmocka_unit_test(sure_names),
		cmocka_unit_test(made_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
