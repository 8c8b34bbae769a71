// SPDX-License-Identifier: GPL-2.0
/*
 * Devices behind an IOMMU (the parameter iommu), on x86: a DMA address means what the IOMMU
 * makes of it, and an access that it would refuse is a violation.
 *
 * Operation: the module binds PCI functions that do nothing themselves (QEMU's pci-testdev), so
 * that the kernel gives each a domain of its own and maps memory in it. A device takes the
 * function that the fewest devices have, and its consumers map memory for that. Each access
 * then walks the tables of Intel's IOMMU as the hardware does (VT-d specification, chapter 9,
 * legacy mode): root entry by bus, context entry by function, and second-level tables whose
 * entries allow the device to read, to write, or both. The tables' format is the hardware's, so
 * no structure of the kernel is needed, and permissions are known, too.
 *
 * Walks run in any context while other CPUs map and unmap. An access that is allowed meets
 * nothing of that: its mapping stays until the consumer unmaps it, no table above it goes
 * before, and its entries were written before the consumer had the address. An access to
 * memory that is being unmapped is wrong in any case: as on hardware, it comes before or after
 * the entry is cleared. After it, a table above may be freed, and hold anything. So each entry
 * is read with copy_from_kernel_nofault(), which survives any address, and which KASAN and
 * KCSAN do not watch. Nothing is cached: that could hide a use after unmap. The kernel
 * clears entries in dma_unmap_*() in its lazy mode as well (iommu.strict=0), and gives addresses
 * to others only later. As there is no IOTLB here, that is the mode in which most uses after
 * unmap are found.
 *
 * A device may do what the kernel's tables say. The kernel's driver sets VTD_READ in each entry,
 * up to 6.12 at least, so that a read of memory that is mapped to be written only is allowed.
 *
 * When the last device of a function goes, nothing may be left mapped in its domain.
 */

#include <linux/acpi.h>
#include <linux/bitfield.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "vrnic.h"

/* Of the VT-d specification: registers, and bits of table entries */
#define VTD_GSTS		0x1c
#define VTD_GSTS_TES		BIT(31)		/* translation is on */
#define VTD_RTADDR		0x20
#define VTD_RTADDR_MODE		GENMASK_ULL(11, 10)	/* 0: legacy */
#define VTD_PRESENT		BIT_ULL(0)
#define VTD_CONTEXT_TYPE	GENMASK_ULL(3, 2)
#define VTD_CONTEXT_PASS	2		/* pass-through */
#define VTD_CONTEXT_LEVELS	GENMASK_ULL(2, 0)	/* two less than there are */
#define VTD_READ		BIT_ULL(0)
#define VTD_WRITE		BIT_ULL(1)
#define VTD_LARGE		BIT_ULL(7)
#define VTD_ADDRESS		GENMASK_ULL(51, 12)
#define VTD_TABLE_BITS		9
#define VTD_TABLE_ENTRIES	BIT(VTD_TABLE_BITS)
#define VTD_MAX_LEVELS		5

/* QEMU's pci-testdev; more by the driver's file new_id in sysfs */
static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REDHAT, 0x0005) },
	{}
};

/**
 * struct vrnic_function - a PCI function for which devices map memory
 * @entry: among all
 * @pdev: it
 * @users: devices
 * @table: address of its first second-level table, valid while there are @users
 * @levels: of its tables
 * @mapped: entries that were there before its first user
 *
 * @entry, @users under functions_lock.
 */
struct vrnic_function {
	struct list_head entry;
	struct pci_dev *pdev;
	unsigned int users;
	u64 table;
	unsigned int levels;
	u64 mapped;
};

static LIST_HEAD(functions);
static DEFINE_MUTEX(functions_lock);

/* ---- tables ---- */

/* 8 bytes of a table; 0, which allows nothing, if it is not in memory */
static u64 entry_at(u64 table, unsigned int i)
{
	u64 entry;

	table &= VTD_ADDRESS;
	if (!pfn_valid(PHYS_PFN(table)) ||
	    copy_from_kernel_nofault(&entry, __va(table + i * sizeof(entry)), sizeof(entry)))
		return 0;
	return entry;
}

static unsigned int shift_of(unsigned int level)
{
	return PAGE_SHIFT + (level - 1) * VTD_TABLE_BITS;
}

/**
 * vrnic_iommu_find() - what an address means for a device
 * @f: its function
 * @addr: the DMA address
 * @write: it writes there; otherwise it reads
 * @phys: set to the address in memory
 * @why: set to why it may not, in words
 *
 * Context: any.
 * Return: bytes from there on that are mapped in one piece; 0 if it may not
 */
u64 vrnic_iommu_find(const struct vrnic_function *f, u64 addr, bool write, u64 *phys,
		     const char **why)
{
	u64 need = write ? VTD_WRITE : VTD_READ, entry = f->table, size;
	u64 allowed = VTD_READ | VTD_WRITE;
	unsigned int level = f->levels + 1;

	*why = ": nothing is mapped there in the IOMMU, or no more";
	if (addr >> shift_of(level))
		return 0;
	do {
		level--;
		entry = entry_at(entry, addr >> shift_of(level) & (VTD_TABLE_ENTRIES - 1));
		allowed &= entry;
		if (!allowed)
			return 0;
	} while (level > 1 && !(entry & VTD_LARGE));
	if (!(allowed & need)) {
		*why = write ? ": the device may only read what is mapped there in the IOMMU" :
			       ": the device may only write what is mapped there in the IOMMU";
		return 0;
	}
	size = BIT_ULL(shift_of(level));
	*phys = (entry & VTD_ADDRESS & ~(size - 1)) | (addr & (size - 1));
	return size - (addr & (size - 1));
}

/* Pages, of any size, that are mapped at @iova by a table of @level; @first: where the first is */
static u64 count_mapped(u64 table, unsigned int level, u64 iova, u64 *first)
{
	u64 n = 0, below, at, found;
	unsigned int i;

	cond_resched();
	for (i = 0; i < VTD_TABLE_ENTRIES; i++) {
		u64 entry = entry_at(table, i);

		if (!(entry & (VTD_READ | VTD_WRITE)))
			continue;
		found = iova + ((u64)i << shift_of(level));
		at = found;
		below = level == 1 || entry & VTD_LARGE ? 1 :
			count_mapped(entry, level - 1, at, &found);
		if (!n && below)
			*first = found;
		n += below;
	}
	return n;
}

/* ---- where they are ---- */

/*
 * The registers' address of the only IOMMU of a function's segment, or 0 and why. Whether it is
 * for this function, its context entry tells.
 */
static u64 unit_of(const struct pci_dev *pdev, const char **why)
{
	struct acpi_table_header *dmar;
	unsigned int units = 0;
	u64 address = 0;
	void *at, *end;

	*why = "the machine's firmware describes no IOMMU of Intel's (QEMU: -device intel-iommu)";
	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_DMAR, 0, &dmar)))
		return 0;
	end = (void *)dmar + dmar->length;
	for (at = (struct acpi_table_dmar *)dmar + 1;
	     at + sizeof(struct acpi_dmar_header) <= end;) {
		const struct acpi_dmar_header *head = at;
		const struct acpi_dmar_hardware_unit *unit = at;

		if (head->type == ACPI_DMAR_TYPE_HARDWARE_UNIT && at + sizeof(*unit) <= end &&
		    unit->segment == pci_domain_nr(pdev->bus)) {
			units++;
			address = unit->address;
		}
		at += max_t(u16, head->length, sizeof(*head));
	}
	acpi_put_table(dmar);
	if (units == 1)
		return address;
	*why = "its segment has several IOMMUs; expected one";
	return 0;
}

/* Why the function has no tables that are walked here, or NULL and they are found */
static const char *find_tables(struct vrnic_function *f)
{
	unsigned int devfn = f->pdev->devfn;
	u64 root, context, high, address;
	void __iomem *regs;
	const char *why;
	bool on;

	address = unit_of(f->pdev, &why);
	if (!address)
		return why;
	regs = ioremap(address, PAGE_SIZE);
	if (!regs)
		return "the IOMMU's registers cannot be mapped";
	on = readl(regs + VTD_GSTS) & VTD_GSTS_TES;
	root = readq(regs + VTD_RTADDR);
	iounmap(regs);
	if (!on)
		return "the IOMMU is off (kernel option: intel_iommu=on)";
	if (root & VTD_RTADDR_MODE)
		return "the IOMMU is in scalable mode (kernel option: intel_iommu=on,sm_off)";
	context = entry_at(root, f->pdev->bus->number * 2);
	high = entry_at(context, devfn * 2 + 1);
	if (context & VTD_PRESENT)
		context = entry_at(context, devfn * 2);
	if (!(context & VTD_PRESENT))
		return "it has no domain in the IOMMU";
	if (FIELD_GET(VTD_CONTEXT_TYPE, context) == VTD_CONTEXT_PASS)
		return "the IOMMU passes its accesses through (kernel option: iommu.passthrough=0)";
	f->levels = FIELD_GET(VTD_CONTEXT_LEVELS, high) + 2;
	if (f->levels > VTD_MAX_LEVELS)
		return "its tables in the IOMMU have more than 5 levels";
	f->table = context & VTD_ADDRESS;
	return NULL;
}

/* ---- functions and devices ---- */

/**
 * vrnic_iommu_claim() - give a device a function
 * @dev: the device
 *
 * Context: may sleep.
 * Return: the struct device for which its consumers map memory, or an error, which was reported
 */
struct device *vrnic_iommu_claim(struct vrnic_dev *dev)
{
	struct vrnic_function *f, *best = NULL;
	const char *why = NULL;
	u64 first;

	mutex_lock(&functions_lock);
	list_for_each_entry(f, &functions, entry) {
		if (!best || f->users < best->users)
			best = f;
	}
	if (!best) {
		pr_err("vrnic: iommu=Y: there is no PCI function for it; expected one with the ID %04x:%04x (QEMU: -device pci-testdev)\n",
		       ids[0].vendor, ids[0].device);
		goto err;
	}
	if (!best->users) {
		why = find_tables(best);
		if (why) {
			pr_err("vrnic: iommu=Y: %s: %s\n", pci_name(best->pdev), why);
			goto err;
		}
		best->mapped = count_mapped(best->table, best->levels, 0, &first);
	}
	best->users++;
	dev->function = best;
	mutex_unlock(&functions_lock);
	return &best->pdev->dev;

err:
	mutex_unlock(&functions_lock);
	return ERR_PTR(-ENODEV);
}

/**
 * vrnic_iommu_release() - a device goes, and with it all that its consumers have mapped
 * @dev: the device
 *
 * Context: may sleep.
 */
void vrnic_iommu_release(struct vrnic_dev *dev)
{
	struct vrnic_function *f = dev->function;
	u64 n, first = 0;

	mutex_lock(&functions_lock);
	if (!--f->users) {
		n = count_mapped(f->table, f->levels, 0, &first);
		if (n > f->mapped)
			vrnic_violation(dev, NULL, "%llu pages are still mapped in the IOMMU when the device goes, the first at the DMA address %#llx",
					n - f->mapped, first);
	}
	mutex_unlock(&functions_lock);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct vrnic_function *f;
	int ret;

	ret = pci_enable_device(pdev);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		goto err_disable;
	ret = -ENOMEM;
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		goto err_disable;
	dma_set_max_seg_size(&pdev->dev, SZ_2G);
	pci_set_master(pdev);
	f->pdev = pdev;
	pci_set_drvdata(pdev, f);
	mutex_lock(&functions_lock);
	list_add_tail(&f->entry, &functions);
	mutex_unlock(&functions_lock);
	return 0;

err_disable:
	pci_disable_device(pdev);
	return ret;
}

static unsigned int users_of(struct vrnic_function *f)
{
	unsigned int users;

	mutex_lock(&functions_lock);
	users = f->users;
	mutex_unlock(&functions_lock);
	return users;
}

/* The devices go first, also one that is being made and that the core does not know yet */
static void remove(struct pci_dev *pdev)
{
	struct vrnic_function *f = pci_get_drvdata(pdev);

	mutex_lock(&functions_lock);
	list_del(&f->entry);
	mutex_unlock(&functions_lock);
	while (users_of(f)) {
		ib_unregister_driver(vrnic_driver_id());
		msleep(20);
	}
	pci_clear_master(pdev);
	pci_disable_device(pdev);
	kfree(f);
}

static struct pci_driver driver = {
	.name = "vrnic",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
};

/**
 * vrnic_iommu_init() - bind the functions
 *
 * Return: 0 or an error
 */
int vrnic_iommu_init(void)
{
	return pci_register_driver(&driver);
}

/**
 * vrnic_iommu_exit() - release them; there are no devices
 */
void vrnic_iommu_exit(void)
{
	pci_unregister_driver(&driver);
}
