# SPDX-License-Identifier: GPL-2.0
#
# nvme-rdma and nvmet-rdma, built out of the kernel tree.  "make help" lists the
# targets.  What the kernel's own build reads is in Kbuild.

TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' $(TOP)/dkms.conf)
BUILD ?= $(TOP)/build

# ---- which kernel ----

# The newest kernel with headers, in the order of version numbers.
newest := $(shell ls -d /lib/modules/*/build/Makefile 2>/dev/null | \
		cut -d/ -f4 | sort -V | tail -n1)
running := $(shell uname -r)

ifneq ($(KSRC),)
KDIR := $(abspath $(KSRC))
KVER := $(shell cat $(KDIR)/include/config/kernel.release 2>/dev/null)
else
KVER ?= $(if $(wildcard /lib/modules/$(running)/build/Makefile),$(running),$(newest))
# For the tests, a kernel of another release may stand in a root of its own, by
# its series or in full; it is built for with the programs there, if there are any.
ifeq ($(wildcard /lib/modules/$(KVER) $(KDIR)),)
rooted := $(shell $(TOP)/tests/vm/kernel-root --find "$(KVER)" 2>/dev/null)
KROOT := $(word 1,$(rooted))
ifneq ($(KROOT),)
override KVER := $(word 2,$(rooted))
ifneq ($(wildcard $(KROOT)/usr/bin/gcc),)
WITHIN := $(TOP)/tests/vm/in-root $(KROOT) $(TOP) $(abspath $(BUILD)) --
endif
endif
endif
KDIR ?= $(KROOT)/lib/modules/$(KVER)/build
endif

OUT := $(abspath $(BUILD))/$(KVER)
MODDIR := $(DESTDIR)/lib/modules/$(KVER)

# Nothing below may run for a kernel that is not there.
.PHONY: kernel
kernel:
	@if [ -n "$(KSRC)" ] && [ -z "$(KVER)" ]; then \
		echo "KSRC=$(KSRC) is not a kernel tree that was built: it has no include/config/kernel.release" >&2; \
		exit 1; \
	fi
	@if [ -z "$(KVER)" ]; then \
		echo "no kernel headers are installed below /lib/modules: install linux-headers-amd64, or give KVER= or KSRC=" >&2; \
		exit 1; \
	fi
	@if [ ! -e "$(KDIR)/Makefile" ]; then \
		echo "no headers for the kernel $(KVER): there is no $(KDIR)/Makefile. Install the package linux-headers-$(KVER), or choose another KVER$(if $(wildcard $(TOP)/tests/vm/kernel-root), (tests/vm/kernel-root SERIES gets one of tests/vm/kernels))" >&2; \
		exit 1; \
	fi

.DEFAULT_GOAL := modules

# Where an ordinary user does not look: modinfo, depmod, dkms.
export PATH := $(PATH):/usr/sbin:/sbin

# No rule but those below: make knows how to make "x" out of "x.c", and would.
MAKEFLAGS += -r
.SUFFIXES:

# ---- core-abi: the private part of the NVMe core, from BTF ----

ABI := $(TOP)/common/core-abi
TOOLDIR := $(abspath $(BUILD))/tools
TOOL := $(TOOLDIR)/core-abi
TOOL_OBJS := $(patsubst $(ABI)/%.c,$(TOOLDIR)/%.o,$(wildcard $(ABI)/*.c))
HOSTCC ?= gcc
HOSTCFLAGS ?= -O2 -g
TOOL_CFLAGS := -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -MMD -MP

$(TOOLDIR)/%.o: $(ABI)/%.c
	@mkdir -p $(TOOLDIR)
	@echo "  HOSTCC  $(notdir $@)"
	@$(HOSTCC) $(TOOL_CFLAGS) $(HOSTCFLAGS) -c -o $@ $<

$(TOOL): $(TOOL_OBJS)
	@echo "  HOSTLD  core-abi"
	@$(HOSTCC) $(HOSTCFLAGS) -o $@ $^ -lbpf

-include $(wildcard $(TOOLDIR)/*.d)

GEN := $(OUT)/include/core-abi-gen.h

# The kernel's files keep the dates of their package, so that a newer kernel of
# the same name may look older than our header: size and inode count, too; and one of
# a root may be in another root than before.
abi_key = $(shell echo "$(KDIR) $$(stat -L -c %n:%s:%Y:%i $$(cat $(OUT)/core-abi.read 2>/dev/null) 2>/dev/null | cksum)")

.PHONY: FORCE
FORCE:

ifneq ($(abi_key)$(GEN),$(shell cat $(OUT)/core-abi.key 2>/dev/null)$(wildcard $(GEN)))
$(OUT)/core-abi.key: FORCE
endif

$(OUT)/core-abi.key: $(TOOL) $(ABI)/manifest | kernel
	@mkdir -p $(OUT)/include
	@echo "  ABI     $(KVER)"
	@$(TOOL) $(if $(KSRC),--ksrc $(KDIR),--kver $(KVER)$(if $(KROOT), --root $(KROOT))) \
		--manifest $(ABI)/manifest --out $(GEN) \
		--read $(OUT)/core-abi.read
	@echo "$(KDIR) $$(stat -L -c %n:%s:%Y:%i $$(cat $(OUT)/core-abi.read) | cksum)" >$@

.PHONY: core-abi
core-abi: $(OUT)/core-abi.key

# A page for a bug report: does core-abi find what it needs in a kernel? The kernel is KVER, or
# that of packages that are unpacked below ROOT. BTF (an image, or raw BTF) and MODULE_DIR (a
# directory) replace what would be found there.
ROOT ?= $(KROOT)
report_kver = $(if $(or $(KROOT),$(filter-out file undefined,$(origin KVER))),$(KVER),$(sort $(notdir \
	$(wildcard $(addprefix $(ROOT)/, lib/modules/* usr/lib/modules/*)))))
REPORT_KVER = $(if $(ROOT),$(report_kver),$(KVER))

.PHONY: kernel-report
kernel-report: $(TOOL)
	@[ "$(words $(REPORT_KVER))" = 1 ] || { \
		echo "$(ROOT)/lib/modules has $(words $(REPORT_KVER)) kernels, expected one ($(REPORT_KVER)): give KVER=" >&2; \
		exit 2; }
	@echo "nvme-rdma     $(VERSION)"
	@$(TOOL) --report $(if $(KSRC),--ksrc $(KDIR),--kver $(REPORT_KVER)) \
		--manifest $(ABI)/manifest $(if $(ROOT),--root $(ROOT)) $(if $(BTF),--base $(BTF)) \
		$(if $(MODULE_DIR),--module-dir $(MODULE_DIR)) $(wildcard $(ABI)/known/*.h)

# ---- the modules ----

# A build directory of links, so that builds for several kernels stand side by
# side and each object has its own place.
sources = $(wildcard $(TOP)/$(1)/*.c)
objects = $(patsubst $(TOP)/%.c,%.o,$(call sources,$(1)))
LINKS := $(wildcard $(addprefix $(TOP)/, host/*.[ch] target/*.[ch] \
	common/*.[ch] common/core-abi/*.h))

.PHONY: farm
farm: kernel
	@mkdir -p $(addprefix $(OUT)/, host target common/core-abi include)
	@find $(OUT)/host $(OUT)/target $(OUT)/common -xtype l -delete
	@for f in $(patsubst $(TOP)/%,%,$(LINKS)); do \
		[ "$$(readlink $(OUT)/$$f)" = "$(TOP)/$$f" ] || \
			ln -sfn "$(TOP)/$$f" "$(OUT)/$$f" || exit 1; \
	done
	@ln -sfn $(TOP)/Kbuild $(OUT)/Kbuild
	@new=$(OUT)/objects.mk.$$$$; printf '%s\n' \
		"nvme-rdma-objects := $(call objects,host)" \
		"nvmet-rdma-objects := $(call objects,target)" >$$new && \
	if cmp -s $$new $(OUT)/objects.mk; then \
		rm -f $$new; \
	else \
		mv $$new $(OUT)/objects.mk; \
	fi

PARTS := host target

# Debian's headers hold no vmlinux for some kernels and one for others; without
# it the kernel's build would complain for each module that it has no BTF.
KBUILD = $(WITHIN) $(MAKE) --no-print-directory -C $(if $(WITHIN),$(KDIR:$(KROOT)/%=/%),$(KDIR)) M=$(OUT) NVME_RDMA_VERSION=$(VERSION) \
	CONFIG_DEBUG_INFO_BTF_MODULES=

# One build of one kernel at a time.
LOCK = flock $(OUT)/.lock

.PHONY: modules host target
modules: farm $(OUT)/core-abi.key
	+@$(LOCK) $(KBUILD) NVME_RDMA_PARTS="$(PARTS)" modules

host target: farm $(OUT)/core-abi.key
	+@$(LOCK) $(KBUILD) NVME_RDMA_PARTS=$@ modules

# ---- install ----

MODULES := nvme-rdma nvmet-rdma
UPDATES := $(MODDIR)/updates

# depmod needs to be root only for the machine's own /lib/modules.
DEPMOD = depmod $(if $(DESTDIR),-b $(DESTDIR)) $(KVER)

.PHONY: install uninstall
install: kernel
	@if [ -n "$(KROOT)" ] && [ -z "$(DESTDIR)" ]; then \
		echo "the kernel $(KVER) is not this machine's but that of $(KROOT): give DESTDIR=" >&2; \
		exit 1; \
	fi
	@for m in $(MODULES); do \
		[ -e $(OUT)/$$m.ko ] || { \
			echo "$(OUT)/$$m.ko is not built: run make KVER=$(KVER) first" >&2; \
			exit 1; \
		}; \
	done
	@for m in $(MODULES); do \
		echo "  INSTALL $(UPDATES)/$$m.ko"; \
		install -D -m 644 $(OUT)/$$m.ko $(UPDATES)/$$m.ko || exit 1; \
	done
	$(DEPMOD)

uninstall:
	@for m in $(MODULES); do \
		echo "  REMOVE  $(UPDATES)/$$m.ko"; \
		rm -f $(UPDATES)/$$m.ko || exit 1; \
	done
	@rmdir $(UPDATES) 2>/dev/null || true
	$(DEPMOD)

# ---- DKMS ----

# Where DKMS finds its sources, and options for it: the tests use a scratch tree.
DKMS_SOURCE ?= /usr/src
DKMS ?= dkms
DKMS_FLAGS ?=
# Its status for a kernel that dkms.conf excludes
DKMS_EXCLUDED := 77
DKMS_PACKAGE := nvme-rdma/$(VERSION)
DKMS_COPY := $(DKMS_SOURCE)/nvme-rdma-$(VERSION)

# Every kernel that has headers; AUTOINSTALL sees to those that come later.
DKMS_KERNELS ?= $(shell ls -d /lib/modules/*/build/Makefile 2>/dev/null | cut -d/ -f4)

# What DKMS builds from
.PHONY: install-source
install-source:
	@mkdir -p $(DESTDIR)$(DKMS_COPY)
	@cd $(TOP) && cp -r Makefile Kbuild dkms.conf common host target $(DESTDIR)$(DKMS_COPY)/

.PHONY: dkms-install dkms-remove
dkms-install: kernel
	@command -v dkms >/dev/null || { \
		echo "there is no program dkms: install the package dkms" >&2; \
		exit 1; }
	@if [ -n "$$($(DKMS) status $(DKMS_FLAGS) $(DKMS_PACKAGE) 2>/dev/null)" ]; then \
		$(DKMS) remove $(DKMS_FLAGS) $(DKMS_PACKAGE) --all; \
	fi
	@echo "  COPY    $(DKMS_COPY)"
	@rm -rf $(DKMS_COPY)
	@$(MAKE) --no-print-directory install-source DESTDIR=
	$(DKMS) add $(DKMS_FLAGS) $(DKMS_PACKAGE)
	@for k in $(DKMS_KERNELS); do \
		echo "  DKMS    $$k"; \
		$(DKMS) install $(DKMS_FLAGS) $(DKMS_PACKAGE) -k $$k; rc=$$?; \
		case $$rc in \
		0) ;; \
		$(DKMS_EXCLUDED)) echo "  the kernel $$k has no NVMe over RDMA that ours could replace" ;; \
		*) exit $$rc ;; \
		esac; \
	done

dkms-remove:
	$(DKMS) remove $(DKMS_FLAGS) $(DKMS_PACKAGE) --all
	rm -rf $(DKMS_COPY)

# ---- nvmerdma, the operator's tool ----

NVMERDMA := $(TOP)/tools/nvmerdma
NVMERDMA_LIBS := json-c libnvme mount blkid uuid
NVMERDMA_OBJS := $(patsubst $(NVMERDMA)/%.c,$(TOOLDIR)/nvmerdma.o/%.o, \
	$(wildcard $(NVMERDMA)/*.c $(NVMERDMA)/*/*.c))
CFLAGS ?= -O2 -g
NVMERDMA_CFLAGS = -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -MMD -MP -I$(NVMERDMA) \
	-DNVMERDMA_VERSION='"$(VERSION)"' $(shell pkg-config --cflags $(NVMERDMA_LIBS))

.PHONY: tools
tools: $(TOOLDIR)/nvmerdma

$(TOOLDIR)/nvmerdma.o/%.o: $(NVMERDMA)/%.c
	@mkdir -p $(@D)
	@echo "  CC      nvmerdma/$*.o"
	@$(CC) $(CPPFLAGS) $(NVMERDMA_CFLAGS) $(CFLAGS) -c -o $@ $<

# What each program is made of: a source that is deleted is missed, too
$(TOOLDIR)/%.sources: FORCE
	@mkdir -p $(@D)
	@echo '$(SOURCES_$*)' | cmp -s - $@ || echo '$(SOURCES_$*)' > $@

SOURCES_nvmerdma = $(NVMERDMA_OBJS)
$(TOOLDIR)/nvmerdma: $(NVMERDMA_OBJS) $(TOOLDIR)/nvmerdma.sources
	@echo "  LD      nvmerdma"
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(shell pkg-config --libs $(NVMERDMA_LIBS)) \
		-lrdmacm -libverbs

-include $(wildcard $(TOOLDIR)/nvmerdma.o/*.d $(TOOLDIR)/nvmerdma.o/*/*.d)

# For packages
SBINDIR ?= /usr/sbin
.PHONY: install-tools
install-tools:
	install -D -m 755 $(TOOLDIR)/nvmerdma $(DESTDIR)$(SBINDIR)/nvmerdma
	install -D -m 644 $(NVMERDMA)/completion.bash \
		$(DESTDIR)/usr/share/bash-completion/completions/nvmerdma

# ---- packages ----

PACKAGED := COPYING README.md Makefile Kbuild dkms.conf common host target tools Documentation debian

# What debian/control builds with; a build in a copy leaves this tree as it is.
DEPS_DEB := build-essential debhelper dh-dkms pkg-config libjson-c-dev libnvme-dev \
	libmount-dev libblkid-dev uuid-dev librdmacm-dev libibverbs-dev
DEBDIR := $(abspath $(BUILD))/deb

.PHONY: deb
deb:
	@missing=; \
	for p in $(DEPS_DEB); do \
		[ "$$(dpkg-query -W -f '$${db:Status-Status}' $$p 2>/dev/null)" = installed ] || \
			missing="$$missing $$p"; \
	done; \
	[ -z "$$missing" ] || { \
		echo "the packages cannot be built: missing$$missing. As root:" >&2; \
		echo "    apt install --no-install-recommends$$missing" >&2; \
		exit 1; }
	@rm -rf $(DEBDIR) && mkdir -p $(DEBDIR)/source
	@cd $(TOP) && cp -r $(PACKAGED) $(DEBDIR)/source/
	@# what is set for this make is not meant for that one
	@cd $(DEBDIR)/source && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD -u DESTDIR \
		dpkg-buildpackage -us -uc -b \
		>$(DEBDIR)/log 2>&1 || { \
		tail -n 20 $(DEBDIR)/log >&2; \
		echo "the packages were not built; all that was said is in $(DEBDIR)/log" >&2; \
		exit 1; }
	@rm -rf $(DEBDIR)/source
	@for f in $(DEBDIR)/*.deb; do \
		echo "  DEB     $$f ($$(dpkg-deb -f $$f Package) $$(dpkg-deb -f $$f Version)," \
			"$$(du -k $$f | cut -f1) KiB)"; \
	done

# The same two packages by rpm, and one of the source. rpmbuild names what rpm/nvme-rdma.spec
# builds with and is missing. RPMBUILD_FLAGS: more options for it
RPMDIR := $(abspath $(BUILD))/rpm
RPM_SOURCE := nvme-rdma-$(VERSION)
RPMBUILD_FLAGS ?=

.PHONY: rpm
rpm:
	@command -v rpmbuild >/dev/null || { \
		echo "the packages cannot be built: there is no program rpmbuild. Install the package rpm-build (Debian: rpm)" >&2; \
		exit 1; }
	@rm -rf $(RPMDIR) && mkdir -p $(RPMDIR)/$(RPM_SOURCE)
	@cd $(TOP) && cp -r $(PACKAGED) rpm $(RPMDIR)/$(RPM_SOURCE)/
	@tar -C $(RPMDIR) -czf $(RPMDIR)/$(RPM_SOURCE).tar.gz $(RPM_SOURCE) && rm -r $(RPMDIR)/$(RPM_SOURCE)
	@{ sed 's/^Version: .*/Version: $(VERSION)/' $(TOP)/rpm/nvme-rdma.spec && \
		awk -f $(TOP)/rpm/changelog.awk $(TOP)/debian/changelog; } >$(RPMDIR)/nvme-rdma.spec
	@# what is set for this make is not meant for that one
	@cd $(RPMDIR) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD -u DESTDIR \
		rpmbuild -ba --define "_topdir $(RPMDIR)/work" --define "_sourcedir $(RPMDIR)" \
		--define "_rpmdir $(RPMDIR)" --define "_srcrpmdir $(RPMDIR)" \
		--define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
		$(RPMBUILD_FLAGS) nvme-rdma.spec >$(RPMDIR)/log 2>&1 || { \
		tail -n 20 $(RPMDIR)/log >&2; \
		echo "the packages were not built; all that was said is in $(RPMDIR)/log" >&2; \
		exit 1; }
	@rm -rf $(RPMDIR)/work $(RPMDIR)/$(RPM_SOURCE).tar.gz
	@for f in $(RPMDIR)/*.rpm; do echo "  RPM     $$f ($$(du -k $$f | cut -f1) KiB)"; done

# ---- what the build, the demonstration and the tests need ----

# To build and install; tests/packages lists what everything else needs, too.
DEPS_BUILD := gcc make kmod dkms libbpf-dev lz4 xz-utils zstd \
	linux-headers-$(if $(filter command line,$(origin KVER)),$(KVER),amd64)
# Only where the registry has them: the running kernel may be anybody's.
DEPS_RUNNING := linux-headers-$(running)

.PHONY: deps deps-build
deps:
	@$(TOP)/tests/install-packages

deps-build:
	@missing=; \
	for p in $(DEPS_BUILD) $(DEPS_RUNNING); do \
		dpkg-query -W -f '$${db:Status-Status}\n' $$p 2>/dev/null | \
			grep -qx installed || missing="$$missing $$p"; \
	done; \
	[ -n "$$missing" ] || { echo "packages: all there"; exit 0; }; \
	if [ "$$(id -u)" = 0 ]; then sudo=; \
	elif command -v sudo >/dev/null; then sudo=sudo; \
	else \
		echo "packages: missing$$missing; installing them takes root or sudo, and neither is here" >&2; \
		exit 1; \
	fi; \
	$$sudo apt-get update -q || exit 1; \
	case "$$missing " in *" $(DEPS_RUNNING) "*) \
		apt-cache show $(DEPS_RUNNING) >/dev/null 2>&1 || { \
			echo "packages: there is no $(DEPS_RUNNING): nothing will be built for the kernel that runs now"; \
			missing="$${missing% $(DEPS_RUNNING)}"; } ;; \
	esac; \
	[ -n "$$missing" ] || exit 0; \
	echo "packages: installing$$missing"; \
	$$sudo env DEBIAN_FRONTEND=noninteractive \
		apt-get install -q -y --no-install-recommends $$missing

# ---- checks ----

# The .d files of an older build may name a source that has moved since.
$(TOP)/tests/%.c: ;

# A program that the guests run: a peer that does not behave.
$(TOOLDIR)/peer: $(TOP)/tests/fixtures/misbehaving-peer/peer.c
	@mkdir -p $(TOOLDIR)
	@echo "  HOSTCC  $(notdir $@)"
	@$(HOSTCC) $(TOOL_CFLAGS) $(HOSTCFLAGS) -o $@ $< -lrdmacm -libverbs

# One round of what a host does, for stepping through faults.
$(TOOLDIR)/round: $(TOP)/tests/fixtures/io-round/round.c
	@mkdir -p $(TOOLDIR)
	@echo "  HOSTCC  $(notdir $@)"
	@$(HOSTCC) $(TOOL_CFLAGS) $(HOSTCFLAGS) -o $@ $<

# Which of the acknowledged writes are there.
ACKED := $(TOP)/tests/fixtures/acked-io
SOURCES_acked = $(wildcard $(ACKED)/*.[ch])
$(TOOLDIR)/acked: $(SOURCES_acked) $(TOOLDIR)/acked.sources
	@mkdir -p $(TOOLDIR)
	@echo "  HOSTCC  $(notdir $@)"
	@$(HOSTCC) $(TOOL_CFLAGS) $(HOSTCFLAGS) -MF $@.d -o $@ $(filter %.c,$(SOURCES_acked)) -pthread -l:liburing.a

# Peers that break every rule: what both are made of, and a host.
HOSTILE := $(TOP)/tests/hostile
HOSTILE_COMMON := $(addprefix $(HOSTILE)/, conn.c held.c wire.c)
HOSTILE_HOST := $(HOSTILE_COMMON) $(HOSTILE)/nvme.c $(wildcard $(HOSTILE)/host*.c)
hostile_objects = $(patsubst $(HOSTILE)/%.c,$(TOOLDIR)/hostile/%.o,$(1))

$(TOOLDIR)/hostile/%.o: $(HOSTILE)/%.c
	@mkdir -p $(TOOLDIR)/hostile
	@echo "  HOSTCC  hostile/$(notdir $@)"
	@$(HOSTCC) $(TOOL_CFLAGS) $(HOSTCFLAGS) -c -o $@ $<

SOURCES_hostile-host = $(HOSTILE_HOST)
$(TOOLDIR)/hostile-host: $(call hostile_objects,$(HOSTILE_HOST)) $(TOOLDIR)/hostile-host.sources
	@echo "  HOSTLD  $(notdir $@)"
	@$(HOSTCC) $(HOSTCFLAGS) -o $@ $(filter %.o,$^) -lrdmacm -libverbs

# And a target, with the program that drives the kernel's host against it.
HOSTILE_TARGET := $(HOSTILE_COMMON) $(wildcard $(addprefix $(HOSTILE)/, target*.c \
	twists*.c drive*.c))
SOURCES_hostile-target = $(HOSTILE_TARGET)
$(TOOLDIR)/hostile-target: $(call hostile_objects,$(HOSTILE_TARGET)) \
		$(TOOLDIR)/hostile-target.sources
	@echo "  HOSTLD  $(notdir $@)"
	@$(HOSTCC) $(HOSTCFLAGS) -o $@ $(filter %.o,$^) -lrdmacm -libverbs

-include $(wildcard $(TOOLDIR)/hostile/*.d)

# What nvmerdma shares a file with.
NVMETCLI := $(TOOLDIR)/nvmetcli/usr/bin/nvmetcli
$(NVMETCLI):
	@mkdir -p $(TOOLDIR)
	@$(TOP)/tests/vm/package nvmetcli forky $(TOOLDIR)/nvmetcli && touch $@

# What reads the series of nvmerdma metrics; unpacked only, so that no daemon is started.
PROMTOOL := $(TOOLDIR)/prometheus/usr/bin/promtool
$(PROMTOOL):
	@mkdir -p $(TOOLDIR)
	@$(TOP)/tests/vm/package prometheus bookworm $(TOOLDIR)/prometheus && touch $@

.PHONY: test-tools
test-tools: $(TOOL) $(addprefix $(TOOLDIR)/, acked peer round \
	hostile-host hostile-target nvmerdma) $(NVMETCLI) $(PROMTOOL)

.PHONY: lint check check-quick check-all check-debug demo
lint: kernel
	@BUILD=$(abspath $(BUILD)) $(TOP)/tests/core-abi/lint $(KVER)

# Both install the packages that are missing, and build for the kernels that
# they boot.
check demo: deps
	@$(TOP)/tests/$(if $(filter check,$@),run,demo/run)

# What is worth some minutes between two changes, on one kernel; the first failure ends it,
# unless KEEP_GOING=1.
check-quick: deps
	@$(TOP)/tests/run --quick $(if $(filter 1 y yes,$(KEEP_GOING)),--keep-going)

# All kernels of tests/vm/kernels and every run; hours.
check-all: deps
	@$(TOP)/tests/run --all

# The scenarios on kernels that watch themselves; hours.
check-debug: deps
	@$(TOP)/tests/run --debug

# The long forms of what make check has in short, on one kernel, faults with the in-tree
# modules, too; an hour each and more. Then tests/reliability/write LOGS renews its tables.
LONG_KVER ?= 6.12
LONG_faults := fault-.*|late-write|storm-all|vrnic-(faults|steps).*|recovery|host-gone|feature-multipath
LONG_hostile := hostile-.*|dos|srq-load|target-(greedy|limits)|iwarp-unready
# The same of ours, and what else the target does with I/O, with I/O threads in all targets
LONG_threads := (fault|hostile|io-threads|srq|target|vrnic|storm)[a-z-]*|late-write|recovery|removal|host-gone|abort|dos|data-path|commands|connecting|disk-poll|no-memory|short-memory|iwarp-unready|feature-(auth|multipath|namespaces|passthrough|pi|queues|target|zoned)
.PHONY: check-faults check-hostile check-threads
check-threads: deps
	@$(TOP)/tests/run --all --kver $(LONG_KVER) --threads --logs build/threads-logs \
		--only '^(test tools|build .*|[a-z_]+ for .*|guest/($(LONG_threads)) $(LONG_KVER))$$'
check-faults check-hostile: deps
	@$(TOP)/tests/run --all --kver $(LONG_KVER) \
		--only '^(test tools|build .*|[a-z_]+ for .*|guest/($(LONG_$(@:check-%=%))) .*)$$'

# What the in-tree modules do with the hostile cases: guest after guest, as they crash.
# The same for those of the virtual RDMA device.
# Then tests/reliability/write build/*-in-tree/$(LONG_KVER)/*.in-tree.
.PHONY: hostile-in-tree vrnic-in-tree
vrnic-in-tree: deps
	@$(TOP)/tests/vrnic/in-tree $(LONG_KVER)
hostile-in-tree: deps
	@$(TOP)/tests/hostile/in-tree-host $(LONG_KVER)
	@$(TOP)/tests/hostile/in-tree --kver $(LONG_KVER)

# BENCH: more arguments: kernels of 'bench', such as "6.12"; of 'bench-quick' what
# tests/bench/run takes, such as "--compare SAVED.json". BENCH_TARGET: the same for
# tests/bench/target
.PHONY: bench bench-quick
bench: deps
	@$(TOP)/tests/bench/all $(BENCH)

bench-quick: deps
	@$(TOP)/tests/bench/run --quick $(BENCH)
	@$(TOP)/tests/bench/target --quick $(BENCH_TARGET)

# Peers that break the rules at random, in guests; what reads a peer's words, in user
# space. FUZZ_SECONDS: for how long, in all
FUZZ_SECONDS ?= 3600
.PHONY: fuzz fuzz-parsers
fuzz: deps
	@$(TOP)/tests/hostile/fuzz --seconds $(FUZZ_SECONDS)

fuzz-parsers: deps
	@BUILD=$(abspath $(BUILD)) $(TOP)/tests/fuzz/run --seconds $(FUZZ_SECONDS)

.PHONY: clean help
clean:
	rm -rf $(BUILD)

help:
	@echo 'nvme-rdma $(VERSION): NVMe over RDMA for Linux, host and target'
	@echo
	@echo 'Build'
	@echo '  make                 both modules for KVER, into build/<kver>/'
	@echo '  make host, target    one of them'
	@echo '  make tools           the tool nvmerdma, into build/tools/'
	@echo '  make core-abi        only build/<kver>/include/core-abi-gen.h'
	@echo '  make kernel-report   whether the modules fit KVER, and what they lack there: one page,'
	@echo '                       without headers or sources. ROOT=DIR: a kernel whose packages are'
	@echo '                       unpacked in DIR; BTF=FILE, MODULE_DIR=DIR: in place of its own'
	@echo '  make clean           remove build/'
	@echo 'Install'
	@echo '  make install         into /lib/modules/<kver>/updates, and depmod'
	@echo '  make uninstall       back to the modules of the kernel'
	@echo '  make dkms-install    build them for each kernel that is installed later, too'
	@echo '  make dkms-remove     back to the modules of the kernel'
	@echo '  make deb             nvme-rdma-dkms and nvme-rdma-tools for Debian, into build/deb/'
	@echo '  make rpm             the same for RHEL and SUSE, into build/rpm/'
	@echo 'Try and test'
	@echo '  make deps            install the packages that all of this needs'
	@echo '  make deps-build      install those that the build needs'
	@echo '  make demo            a remote disk over RDMA between two guests'
	@echo '  make check           unit tests and guest tests, in 15 to 20 minutes'
	@echo '  make check-quick     the most telling of them, in some 4 minutes; ends with the first'
	@echo '                       failure, unless KEEP_GOING=1'
	@echo '  make check-all       on all kernels of tests/vm/kernels, in hours'
	@echo '  make check-faults    broken wires, peers, disks and RDMA devices, all of them, in hours'
	@echo '  make check-hostile   peers that break each rule, or take more than their share, in hours'
	@echo '  make check-threads   the same and more, with I/O threads in all targets, in hours'
	@echo '  make check-debug     on kernels made to find memory, lock and race errors, in hours'
	@echo '  make bench           instructions per I/O, beside the modules of the kernel: hours,'
	@echo '                       with 8 GiB of memory for a guest of 1,000 controllers;'
	@echo '                       BENCH="6.12": of one kernel'
	@echo '  make bench-quick     the same of few jobs, in minutes; BENCH="--compare SAVED.json",'
	@echo '                       BENCH_TARGET= for the target alone'
	@echo '  make fuzz            peers that break the rules at random, both ways, on the debug kernel'
	@echo '  make fuzz-parsers    what reads the words of a peer, with other inputs in each run;'
	@echo '                       FUZZ_SECONDS=3600: for how long'
	@echo '  make lint            checkpatch --strict, codespell, sparse, W=1'
	@echo
	@echo 'Variables'
	@echo '  KVER=$(KVER)'
	@echo '                       the kernel; installed with headers:'
	@for d in /lib/modules/*/build/Makefile; do \
		[ -e $$d ] && echo "                         $$(echo $$d | cut -d/ -f4)"; \
	done; true
	@echo '                       and, by series, what tests/vm/kernel-root has made'
	@echo '  KSRC=DIR             a kernel tree that was built, in place of KVER'
	@echo '  BUILD=DIR            in place of build/'
	@echo '  DESTDIR=DIR          install below DIR'
	@echo '  COUNTS=0             without what is counted of each command, to see its cost'
	@echo '  W=1, C=1, V=1        as in the kernel: more warnings, sparse, commands'
