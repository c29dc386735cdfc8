# Switchboard. `make help` lists the targets.

# --- Variables to set on the command line -------------------------------------------------------
CC      = $(TRIPLET:%=%-)gcc
CFLAGS  = -O2 -g
PREFIX  = /usr
DESTDIR =
SANITIZE ?=
PROBE ?=
# 1: programs in build/static that link no shared library (doc/install.md); for `make`, `make run`
# and `make install`.
STATIC_CURL ?=
# A Debian architecture, such as arm64, to build for in build/ARCH, by Debian's cross compiler; for
# `make`, hosting, deb, sbom and dist.
ARCH ?=
# 1: programs in build/postgresql that support PostgreSQL too; they link libpq.
POSTGRESQL ?=
V =
PORT    ?= 8080
RUN_DIR ?= ./run
# For `make run`: cgi or fcgi; the platform's URL instead of the sandbox.
TRANSPORT ?= cgi
GRAPH_BASE_URL ?=
# For `make run`: 0 starts a new RUN_DIR without conversations.
DEMO ?= 1
# For `make test`: files to run, tests/*.bats or tests/unit/*.c, and a regular expression of the
# names of their tests; empty: all.
TESTS   ?=
FILTER  ?=
# For `make test-quick`: the commit since which the changes count; empty: those not committed.
SINCE   ?=
# For `make test`: postgresql: all files run on a PostgreSQL server instead of SQLite.
DATABASE ?=
# For `make audit`: names of executables; empty: all of them.
ONLY    ?=
# For `make growth`: numbers of contacts; directory of the databases, default ./build/growth.
GROWTH_SIZES ?= 1000 100000 1000000
GROWTH_DIR ?=
# For `make deb`, by those who give the packages to others: `NAME <ADDRESS>`.
MAINTAINER ?=
# For `make fuzz`: the time for each target.
FUZZ_SECONDS = 30

ifeq ($(DATABASE),postgresql)
POSTGRESQL := 1
endif

# --- Nothing below is to be set -----------------------------------------------------------------
ifneq ($(words $(CURDIR)),1)
$(error make cannot build below a path with a space; move the checkout: $(CURDIR))
endif
Q := $(if $(V),,@)
ifneq ($(ARCH),)
override ARCH := $(filter-out $(shell dpkg --print-architecture),$(ARCH))
endif
ifneq ($(ARCH),)
ifneq ($(POSTGRESQL),)
$(error ARCH is not for the programs of POSTGRESQL)
endif
TRIPLET := $(shell env -u CC dpkg-architecture -a$(ARCH) -qDEB_HOST_GNU_TYPE)
AR := $(TRIPLET)-ar
# Runs a program of the other machine, which prints a part of the reference.
EMULATOR := qemu-$(firstword $(subst -, ,$(TRIPLET)))-static
else
TRIPLET :=
EMULATOR :=
endif
# What is built for ARCH, and for this machine.
AT := build$(ARCH:%=/%)
# The directory of the objects, and that of the executables: beside their sources, except in
# sanitizer, probe and coverage builds.
BUILD := $(if $(ARCH),$(AT)/objects,build/plain)
OUT   := $(if $(ARCH),$(AT),.)
WARNINGS := -Wall -Wextra -Wformat=2 -Wconversion -Wshadow -Wvla -Wimplicit-fallthrough
# Those of the flags that the compiler has for the machine that it builds for: $(call had,FLAG...)
had = $(foreach flag,$(1),\
    $(shell $(CC) -Werror $(flag) -x c -S -o /dev/null /dev/null 2>/dev/null && echo '$(flag)'))
# The control flow protection of x86-64, and that of arm64.
CONTROL_FLOW = $(call had,-fcf-protection=full -mbranch-protection=standard)
HARDENING = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong \
    -fstack-clash-protection $(CONTROL_FLOW) -fno-delete-null-pointer-checks \
    -fno-strict-overflow -fno-strict-aliasing
LANGUAGE := -std=c11 -D_GNU_SOURCE -Ilib
# A warning ends a build of CI. Elsewhere it does not, since each compiler has others; `make lint`
# finds those of gcc and clang.
FLAGS := $(LANGUAGE) -fPIE $(WARNINGS) $(if $(CI),-Werror) -MMD -MP
STATIC_LIBCURL := $(AT)/static-curl
LIBPQ = -isystem /usr/include/postgresql
# The cross compiler has a C library of its own, which gets no update; -B: that of the packages.
LINK  := $(TRIPLET:%=-B/usr/lib/%) -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed
# An executable without shared libraries starts fastest: all except those that call the platform.
STATIC := -static-pie -Wl,--no-warnings
DYNAMIC := -pie
ifeq ($(SANITIZE),1)
BUILD := build/sanitize/objects
OUT   := build/sanitize
FLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
STATIC := -pie -fsanitize=address,undefined
DYNAMIC := -pie -fsanitize=address,undefined
else
ifeq ($(PROBE),1)
# Executables that test their own rights on request, and that can be made to crash.
BUILD := build/probe/objects
OUT   := build/probe
FLAGS += -DSWITCHBOARD_PROBE -DCPU_LIMIT_SECONDS=1 -include tests/probe.h
endif
ifeq ($(COVERAGE),1)
# Executables that count how often each of their lines runs.
BUILD := build/coverage/objects
OUT   := build/coverage
CFLAGS = -O0 -g
COUNTED := --coverage -fprofile-abs-path -fprofile-update=atomic
$(BUILD)/lib/% $(BUILD)/cgi-bin/%: FLAGS += $(COUNTED) -include tests/coverage.h \
    -DSWITCHBOARD_COVERAGE='"$(CURDIR)/$(BUILD)"'
STATIC += --coverage
DYNAMIC += --coverage
else
FLAGS += $(HARDENING)
endif
ifeq ($(STATIC_CURL),1)
# Executables that need no shared library: they start faster, and run under another C library. The
# sandbox links libmicrohttpd.
BUILD := $(AT)/static/objects
OUT   := $(AT)/static
FLAGS += -DSWITCHBOARD_STATIC -isystem $(STATIC_LIBCURL)/include
DYNAMIC := $(STATIC)
endif
ifeq ($(POSTGRESQL),1)
BUILD := build/postgresql/objects
OUT   := build/postgresql
STATIC := -pie
endif
FLAGS += -ftrivial-auto-var-init=zero
# clang 14 accepts this flag only with a second one
ifneq ($(findstring clang,$(CC)),)
FLAGS += -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang
endif
endif

# The directory of the build does not stand in the executables: the same source gives the same bytes
# anywhere. A debugger is started in the project's directory. Counted lines need their full paths.
ifneq ($(COVERAGE),1)
FLAGS += -ffile-prefix-map=$(CURDIR)=.
endif

# Debian packages to build and run; tests/rules.mk lists those of the tests.
PACKAGES := gcc libc6-dev libfcgi-dev libsqlite3-dev libsodium-dev libcurl4-openssl-dev \
    libmagic-dev libutf8proc-dev libmicrohttpd-dev libcjson-dev apache2-bin ca-certificates curl \
    jq tzdata
# Those that `make deb` needs too; the build dependencies in debian/control are of PACKAGES.
DEB_PACKAGES := build-essential debhelper lintian

# For STATIC_CURL=1.
STATIC_PACKAGES := binutils dpkg-dev libssl-dev libc-ares-dev zlib1g-dev libbz2-dev liblzma-dev \
    libmagic-mgc

# The executables, grouped by the libraries that they link.
CGI_PLAIN := root health version
CGI_STORE := me ready metrics webhook_config platform session lines threads contacts inbox_write \
    events events_replay forms_responses overview outgoing team trail factor
CGI_GRAPH := messages templates campaigns forms graph graph_media webhook account_setup
CGI_MEDIA := media
CGI := $(CGI_PLAIN) $(CGI_STORE) $(CGI_GRAPH) $(CGI_MEDIA)
CGI_SOURCES := $(wildcard cgi-bin/*.c)
CGI_GROUPS := CGI_PLAIN, CGI_STORE, CGI_GRAPH, CGI_MEDIA
$(foreach source,$(filter-out $(CGI:%=cgi-bin/%.c),$(CGI_SOURCES)),\
    $(error $(source) is in none of $(CGI_GROUPS)))
$(foreach source,$(filter-out $(CGI_SOURCES),$(CGI:%=cgi-bin/%.c)),\
    $(error one of $(CGI_GROUPS) lists a program without its source $(source)))
TOOLS := switchboard pool courier sender switchboard-sandbox
# Small programs of the archive for a web host.
HOSTING_PROGRAMS := $(OUT)/tools/fetch $(OUT)/tools/probe
BINARIES := $(CGI:%=$(OUT)/cgi-bin/%) $(TOOLS:%=$(OUT)/tools/%)

# The reference of the API. Apache serves $(OUT)/htdocs, which holds links to it and the dashboard.
DOC := $(if $(filter .,$(OUT)),build/doc,$(BUILD)/doc)
REFERENCE := $(DOC)/htdocs/openapi.json
SERVED := $(OUT)/htdocs/openapi.json

LIBRARY := $(BUILD)/libswitchboard.a
# The second driver is in the programs for PostgreSQL only.
LIBRARY_SOURCES := $(filter-out $(if $(filter 1,$(POSTGRESQL)),,lib/engine/postgresql%), \
    $(wildcard lib/*/*.c lib/*/*/*.c))
LIBRARY_OBJECTS := $(LIBRARY_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/lib/store/move/schema.o \
    $(if $(filter 1,$(POSTGRESQL)),$(BUILD)/lib/store/move/schema_postgresql.o) \
    $(if $(PROBE),$(BUILD)/tests/probe.o)
ADMIN_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/admin/*.c tools/admin/*/*.c))
POOL_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/supervisor/*.c))
SANDBOX_DATA := $(wildcard tools/sandbox/*/*.json \
    $(addprefix tools/sandbox/phone/*.,html css js svg)) \
    $(addprefix htdocs/dashboard/,app.css messaging.css js/dom.js js/shape.js \
        js/templates/definition.js)
SANDBOX_OBJECTS := $(SANDBOX_DATA:%=$(BUILD)/%.o) \
    $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/sandbox/*.c tools/sandbox/*/*.c))

FCGI   := -l:libfcgi.a
UNICODE := -l:libutf8proc.a
SQLITE := -l:libsqlite3.a -lm $(UNICODE)
ifeq ($(POSTGRESQL),1)
SQLITE += -lpq
PACKAGES += libpq-dev
endif
SODIUM := -l:libsodium.a
ifneq ($(ARCH),)
# the libraries are those of the architecture; the magic is data
of_arch = $(foreach name,$(1),$(name)$(if $(filter-out libmagic-mgc,\
    $(filter lib% zlib%,$(name))),:$(ARCH)))
PACKAGES := $(call of_arch,$(PACKAGES)) crossbuild-essential-$(ARCH) dpkg-dev qemu-user-static
STATIC_PACKAGES := $(call of_arch,$(STATIC_PACKAGES))
endif
CURL   := -lcurl
MAGIC  := -lmagic
ifeq ($(STATIC_CURL),1)
CURL   := $(STATIC_LIBCURL)/lib/libcurl.a -l:libcares.a -l:libssl.a -l:libcrypto.a
MAGIC  := -l:libmagic.a -l:libz.a -l:libbz2.a -l:liblzma.a
PACKAGES += $(STATIC_PACKAGES)
# libcurl's headers come with the library.
$(LIBRARY_OBJECTS) $(ADMIN_OBJECTS) $(SANDBOX_OBJECTS) $(BUILD)/tools/courier.o \
    $(BUILD)/tools/sender.o \
    $(BUILD)/tools/hosting/fetch.o: | $(STATIC_LIBCURL)/lib/libcurl.a
endif

all: $(BINARIES) $(SERVED) ## build all programs and the reference of the API

include tests/rules.mk

# --- Objects ------------------------------------------------------------------------------------
# The includes of the sandbox name its rooms.
$(addsuffix /tools/sandbox/%,$(sort $(BUILD) build/plain)): FLAGS += -Itools/sandbox

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -c -o $@ $<

# The programs for PostgreSQL have the objects of the default programs, except those whose source
# names the macro or libpq.
ifeq ($(POSTGRESQL),1)
OWN_SOURCES := $(shell grep -rlE 'SWITCHBOARD_POSTGRESQL|libpq-fe|/postgresql[a-z_]*\.h' \
    --include='*.c' lib cgi-bin tools) $(wildcard tests/unit/*.c) tests/helpers/query.c
SHARED_SOURCES := $(filter-out $(OWN_SOURCES),\
    $(wildcard lib/*/*.c lib/*/*/*.c cgi-bin/*.c tools/*.c tools/*/*.c tools/*/*/*.c))
$(OWN_SOURCES:%.c=$(BUILD)/%.o): FLAGS += -DSWITCHBOARD_POSTGRESQL $(LIBPQ)

$(SHARED_SOURCES:%.c=$(BUILD)/%.o): $(BUILD)/%.o: build/plain/%.o
	@mkdir -p $(@D)
	@ln -f $< $@

build/plain/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -c -o $@ $<
endif

# schema.sql is compiled in unchanged: `switchboard init` creates the database from it.
$(BUILD)/lib/store/move/schema.c: schema.sql tools/schema/source tools/embed
	@mkdir -p $(@D)
	@tools/schema/source sqlite schema.sql > $@

$(BUILD)/lib/store/move/schema_postgresql.c: schema.sql tools/schema/postgresql.awk \
    tools/schema/source tools/embed
	@mkdir -p $(@D)
	@tools/schema/source postgresql schema.sql > $@

$(BUILD)/lib/store/move/schema.o $(BUILD)/lib/store/move/schema_postgresql.o: %.o: %.c
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -c -o $@ $<

# The data of the sandbox: message_rules.json is the text message_rules_json.
$(SANDBOX_DATA:%=$(BUILD)/%.c): $(BUILD)/%.c: % tools/embed
	@mkdir -p $(@D)
	@tools/embed $(subst .,_,$(notdir $*)) < $< > $@

$(SANDBOX_DATA:%=$(BUILD)/%.o): %.o: %.c
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -c -o $@ $<

$(LIBRARY): $(LIBRARY_OBJECTS)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(STATIC_LIBCURL)/lib/libcurl.a: $(wildcard /var/lib/dpkg/status)
	@CONTROL_FLOW='$(CONTROL_FLOW)' tools/static-curl $(STATIC_LIBCURL)
	@touch $@

# The versions of what is linked statically. The file changes only with them, and then all programs
# are linked again.
MANIFEST := $(if $(filter 1,$(STATIC_CURL)),$(STATIC_LIBCURL)/MANIFEST)
$(BUILD)/linked.checked: tools/linked $(if $(MANIFEST),$(STATIC_LIBCURL)/lib/libcurl.a) \
    $(wildcard /var/lib/dpkg/status)
	@mkdir -p $(@D)
	@tools/linked $(MANIFEST) > $(BUILD)/linked.new
	@cmp -s $(BUILD)/linked.new $(BUILD)/linked.c || mv $(BUILD)/linked.new $(BUILD)/linked.c
	@touch $@

$(BUILD)/linked.c: $(BUILD)/linked.checked ;

$(BUILD)/linked.o: $(BUILD)/linked.c
	$(Q)$(CC) $(FLAGS) -Itools $(CFLAGS) -c -o $@ $<

# --- Executables --------------------------------------------------------------------------------
# One rule links all of them, those of the tests too. A program has its objects as prerequisites,
# its libraries in LIBS, and in FORM whether it is static.
FORM = $(DYNAMIC)
$(BINARIES) $(TEST_BINARIES) $(HOSTING_PROGRAMS): $(BUILD)/linked.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(FORM) -o $@ $(filter %.o %.a,$^) $(LIBS)

$(CGI:%=$(OUT)/cgi-bin/%): $(OUT)/cgi-bin/%: $(BUILD)/cgi-bin/%.o $(LIBRARY)
$(CGI_PLAIN:%=$(OUT)/cgi-bin/%) $(CGI_STORE:%=$(OUT)/cgi-bin/%): FORM = $(STATIC)
$(CGI_PLAIN:%=$(OUT)/cgi-bin/%): LIBS = $(FCGI)
$(CGI_STORE:%=$(OUT)/cgi-bin/%): LIBS = $(FCGI) $(SQLITE) $(SODIUM)
$(CGI_GRAPH:%=$(OUT)/cgi-bin/%): LIBS = $(FCGI) $(SQLITE) $(SODIUM) $(CURL)
$(CGI_MEDIA:%=$(OUT)/cgi-bin/%): LIBS = $(FCGI) $(SQLITE) $(SODIUM) $(CURL) $(MAGIC)

$(OUT)/tools/switchboard: $(BUILD)/tools/switchboard.o $(ADMIN_OBJECTS) $(BUILD)/linked.o \
    $(LIBRARY)
$(OUT)/tools/switchboard: LIBS = $(SQLITE) $(SODIUM) $(CURL)

$(OUT)/tools/courier: $(BUILD)/tools/courier.o $(LIBRARY)
$(OUT)/tools/courier: LIBS = $(if $(PROBE),$(FCGI)) $(SQLITE) $(SODIUM) $(CURL)

$(OUT)/tools/sender: $(BUILD)/tools/sender.o $(LIBRARY)
$(OUT)/tools/sender: LIBS = $(if $(PROBE),$(FCGI)) $(SQLITE) $(SODIUM) $(CURL)

hosting-programs: $(HOSTING_PROGRAMS)
$(HOSTING_PROGRAMS): $(OUT)/tools/%: $(BUILD)/tools/hosting/%.o
$(OUT)/tools/fetch: LIBS = $(CURL)

$(OUT)/tools/pool: $(BUILD)/tools/pool.o $(POOL_OBJECTS) $(LIBRARY)

$(OUT)/tools/switchboard-sandbox: $(SANDBOX_OBJECTS) $(LIBRARY)
$(OUT)/tools/switchboard-sandbox: FORM = $(if $(filter 1,$(STATIC_CURL)),-pie,$(DYNAMIC))
$(OUT)/tools/switchboard-sandbox: LIBS = -lmicrohttpd -lcjson -lpthread $(SODIUM) $(CURL)

# --- The reference ------------------------------------------------------------------------------
$(REFERENCE): $(CGI:%=$(OUT)/cgi-bin/%) $(wildcard doc/api/*.md tools/reference/* \
    htdocs/dashboard/i18n/*.json) lib/base/product.h
	$(Q)OUT=$(OUT) tools/reference/build $(DOC)

$(SERVED): $(REFERENCE)
	@mkdir -p $(OUT)/htdocs
	@ln -sfnr $(DOC)/htdocs/docs $(DOC)/htdocs/openapi.json $(if $(filter .,$(OUT)),,\
	    htdocs/dashboard) $(OUT)/htdocs

# --- What users call ----------------------------------------------------------------------------
# Scripts read messages, compare names and print numbers, which are others in other languages.
export LC_ALL = C.UTF-8
# What the scripts need to know of a build for another machine.
export ARCH CC EMULATOR TRIPLET
export MAINTAINER PORT RUN_DIR TRANSPORT GRAPH_BASE_URL DEMO GROWTH_SIZES GROWTH_DIR
BUILD_ALL = $(MAKE) -s --no-print-directory -j$$(nproc)

run: ## install missing packages, build, start everything, send a message
	@tools/run --check
	@tools/setup $(PACKAGES)
	@$(BUILD_ALL) all
	@PROGRAMS=$(OUT) tools/run

stop: ## stop the programs that `make run` started
	@tools/stop

format: ## format every C file by .clang-format
	@tools/setup $(LINT_PACKAGES)
	@tests/lint/formatter
	@tests/lint/files c | xargs clang-format -i

lint: ## check the form of every file: format, warnings, functions, includes, words
	@tools/setup $(PACKAGES) $(LINT_PACKAGES)
	@mkdir -p build && flock build/lint.lock $(MAKE) -s --no-print-directory lint-alone

# Two at the same time would write each other's reports.
lint-alone:
	@$(BUILD_ALL) lint-reports
	@tests/lint/run $(LINT)

test: ## check the form, build, run the suite; TESTS=tests/me.bats [FILTER='a token']: only these
	@tools/setup $(PACKAGES) $(TEST_PACKAGES) $(foreach word,$(NEEDED),$(PACKAGES_$(word)))
	@$(if $(TESTS),,$(MAKE) -s --no-print-directory lint || \
	    { echo 'test: the suite did not run: correct what lint found'; exit 1; })
	@$(BUILD_ALL) all $(TEST_HELPERS) $(NAMED_UNITS) $(foreach word,$(NEEDED),$(NEEDED_$(word)))
	@$(if $(ON_SERVER),$(BUILD_ALL) POSTGRESQL=1 server-programs)
	@OUT=$(OUT) UNIT=$(BUILD)/unit HELPERS=$(CURDIR)/$(BUILD)/helpers DATABASE=$(DATABASE) \
	    SECOND_RUNS=$(if $(TESTS)$(TEST_FULL)$(filter 1,$(SANITIZE)),0,2) \
	    SUITE=$(if $(TESTS)$(TEST_FULL)$(WHOLE),,short) \
	    $(ON_SERVER) tests/run $(if $(TESTS),$(filter %.bats,$(TESTS)) $(NAMED_UNITS))

test-quick: lint ## check the form, run the unit tests and the files of what changed; SINCE=COMMIT
	@files=$$(SINCE='$(SINCE)' tests/quick) && TRANSPORTS=first $(MAKE) -s \
	    --no-print-directory test TESTS="$$(printf '%s ' tests/unit/*.c $$files)"

test-whole: export WHOLE = 1
test-whole: test ## run the tests with the tag `long` too: three quarters of an hour

test-full: export TEST_FULL = 1
test-full: test static-test hosting-test test-debian13 test-arm64 ## run the long forms too

# As root, both. The root directories are kept, with their packages and objects.
test-debian13: ## run `make test` in a root directory of Debian 13; TESTS, FILTER, DATABASE
	@tools/setup debootstrap git
	@tests/machines/debian13 build/roots/debian13 TESTS='$(TESTS)' FILTER='$(FILTER)' \
	    DATABASE='$(DATABASE)'

test-arm64: ## build for arm64 in a root directory, and run the main scenarios in an emulator
	@tools/setup debootstrap git
	@tests/machines/arm64 build/roots/arm64 emulated-test

dist-arm64: ## in that root directory, collect archive and packages for arm64: build/arm64/dist
	@tools/setup debootstrap git
	@tests/machines/arm64 build/roots/arm64 dist
	@rm -rf build/arm64/dist
	@mkdir -p build/arm64
	@cp -R build/roots/arm64/srv/switchboard/build/arm64/dist build/arm64/dist

# With ARCH, in the root directory of test-arm64: tests whose programs the emulator runs.
emulated-test:
	@tools/setup $(PACKAGES) $(EMULATED_TEST_PACKAGES)
	@$(BUILD_ALL) all
	@$(BUILD_ALL) ARCH= $(EMULATED_HELPERS)
	@tests/machines/emulate $(EMULATOR) $(OUT) $(OUT)/emulated
	@EMULATED=1 OUT=$(CURDIR)/$(OUT)/emulated HELPERS=$(CURDIR)/build/plain/helpers \
	    TRANSPORTS=cgi tests/run $(EMULATED_FILES:%=tests/%.bats)

static-test: ## build with STATIC_CURL=1, and run a part of the suite with these programs
	@tools/setup $(PACKAGES) $(STATIC_PACKAGES) $(TEST_PACKAGES)
	@$(BUILD_ALL) all $(TEST_HELPERS) $(NODE_MODULES)
	@$(BUILD_ALL) STATIC_CURL=1 all
	@OUT=$(CURDIR)/build/static HELPERS=$(CURDIR)/$(BUILD)/helpers \
	    TRANSPORTS='direct cgi fcgi' tests/run tests/static/programs.bats \
	    $(STATIC_FILES:%=tests/%.bats)

torture: ## kill programs at every system call, fail every call and every allocation
	@tools/setup $(PACKAGES) $(TEST_PACKAGES)
	@$(BUILD_ALL) all $(TEST_HELPERS) $(STARVED_PROGRAMS)
	@OUT=$(OUT) HELPERS=$(CURDIR)/$(BUILD)/helpers SWEEP_POINTS=1000000 LIMIT=7200 tests/run \
	    $(or $(TESTS),$(TORTURE:%=tests/%.bats))

fuzz: ## run hostile input against every parser, FUZZ_SECONDS each
	@tools/setup $(PACKAGES) $(FUZZ_PACKAGES)
	@$(BUILD_ALL) $(FUZZ_TARGETS)
	@tests/fuzz/run $(FUZZ) $(FUZZ_SECONDS)

audit: ## print and check what each executable can do; V=1 prints every trial, ONLY=me all of `me`
	@tools/setup $(PACKAGES) binutils
	@$(BUILD_ALL) all probes ONLY='$(ONLY)'
	@OUT=$(OUT) OBJECTS=$(BUILD) ASK=$(BUILD)/helpers/ask VERBOSE=$(V) ONLY='$(ONLY)' \
	    tests/audit

bench: ## measure against bare programs and Node, over half an hour; ROWS='send media': only these
	@tools/setup $(PACKAGES) $(BENCH_PACKAGES) $(CONTROL_PACKAGES) $(STATIC_PACKAGES) \
	    postgresql libpq-dev
	@$(BUILD_ALL) STATIC_CURL=1 all
	@$(BUILD_ALL) POSTGRESQL=1 all
	@$(BUILD_ALL) all $(BENCH_PROGRAMS)
	@BENCH_BIN=$(BENCH) tests/bench/run $(ROWS)

bench-quick: ## measure the first rows, without Node, in under a minute
	@tools/setup $(PACKAGES) $(BENCH_PACKAGES)
	@$(BUILD_ALL) all $(BENCH_PROGRAMS)
	@BENCH_BIN=$(BENCH) tests/bench/run --quick

growth: ## measure on databases of GROWTH_SIZES contacts, 15 minutes and 6 GB
	@tools/setup $(PACKAGES) $(BENCH_PACKAGES)
	@$(BUILD_ALL) all $(BENCH_PROGRAMS) $(TEST_HELPERS)
	@BENCH_BIN=$(BENCH) HELPERS=$(BUILD)/helpers tests/bench/growth

# The suite over the transports that run every line; SWEEP_POINTS bounds the sweeps.
coverage: ## run the suite and print the lines of lib and cgi-bin that it did not run
	@tools/setup $(PACKAGES) $(TEST_PACKAGES) $(COVERAGE_PACKAGES)
	@$(BUILD_ALL) COVERAGE=1 all suite-programs
	@tests/coverage build/coverage

which: ## record which lines each test file runs, for tests/which and test-quick; half an hour
	@tools/setup $(PACKAGES) $(TEST_PACKAGES)
	@$(BUILD_ALL) COVERAGE=1 all $(TEST_HELPERS:$(BUILD)/%=build/coverage/objects/%) \
	    $(if $(TESTS),$(NAMED_UNITS:$(BUILD)/%=build/coverage/objects/%),suite-programs)
	@tests/which --make build/coverage $(if $(TESTS),$(filter %.bats,$(TESTS)) \
	    $(NAMED_UNITS:$(BUILD)/%=build/coverage/objects/%),\
	    $$(tests/coverage build/coverage --list))

soak: ## run five minutes of random traffic, kills, full disk and locks, then check all data
	@tools/setup $(PACKAGES) $(TEST_PACKAGES)
	@$(BUILD_ALL) all $(SOAK_PROGRAMS)
	@OUT=$(OUT) SOAK_BIN=$(SOAK) tests/soak/run

world: ## simulate days of traffic, crashes and power failures for WORLD_SECONDS, from SEED
	@tools/setup $(PACKAGES) $(TEST_PACKAGES)
	@$(BUILD_ALL) $(WORLD)/world
	@$(WORLD)/world --seconds $${WORLD_SECONDS:-60} $${SEED:+--seed $$SEED}

# The programs of a cluster are those of POSTGRESQL=1; the clients of the tests are the soak's.
cluster: ## start three web hosts on two PostgreSQL servers under Patroni, as a demonstration
	@$(MAKE) -s --no-print-directory cluster-programs
	@OUT=build/postgresql tests/cluster/demo start

cluster-stop: ## stop what `make cluster` started
	@tests/cluster/demo stop

failover: ## kill servers and hosts of a cluster under traffic, then check all data, 3 minutes
	@$(MAKE) -s --no-print-directory cluster-programs
	@OUT=build/postgresql SOAK_BIN=$(SOAK) CLUSTER_BIN=$(CLUSTER) timeout -k 60 500 \
	    tests/cluster/failover

cluster-upgrade: ## upgrade the hosts of a cluster under traffic, and count the failed requests
	@$(MAKE) -s --no-print-directory cluster-programs
	@OUT=build/postgresql SOAK_BIN=$(SOAK) CLUSTER_BIN=$(CLUSTER) timeout -k 60 500 \
	    tests/cluster/upgrade

cluster-programs:
	@tools/setup $(PACKAGES) $(CLUSTER_PACKAGES)
	@$(BUILD_ALL) POSTGRESQL=1 all
	@$(BUILD_ALL) $(CLUSTER_PROGRAMS)

man: all ## write the manual pages to build/man, the shell completions to build/completion
	@tools/manual $(OUT) build

sbom: all ## write the bill of materials and the licences of what is linked to build/sbom
	@tools/setup $(PACKAGES) binutils
	@rm -rf $(AT)/sbom
	@$(MAKE) -s --no-print-directory MAPPED=$(AT)/sbom/linked mapped
	@tools/sbom $(AT)/sbom/linked $(OUT) $(AT)/sbom $(MANIFEST)

# The programs are linked again in MAPPED, which gives the same bytes, with a map of what is in
# each.
mapped:
	@$(BUILD_ALL) OUT=$(MAPPED) 'LINK=$(LINK) -Wl,-Map=$$@.map' installed \
	    $(if $(filter 1,$(STATIC_CURL)),hosting-programs)

installed: $(BINARIES)

install: all ## install below DESTDIR and PREFIX
	@OUT='$(OUT)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' tools/install

uninstall: ## remove the installed files, except those that were edited
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' tools/uninstall

deb: ## build the Debian packages in build/deb; MAINTAINER='NAME <ADDRESS>': who gives them out
	@tools/setup $(PACKAGES) $(DEB_PACKAGES)
	@debian/build

package-test: ## install, upgrade and remove the packages, and a build, in a root directory
	@tools/setup $(PACKAGES) $(DEB_PACKAGES) debootstrap systemd-container
	@$(BUILD_ALL) all
	@debian/build
	@tests/package/run

hosting: ## pack build/hosting/*.tar.gz, for an account of a web host without root
	@tools/setup $(PACKAGES) $(STATIC_PACKAGES)
	@CONTROL_FLOW='$(CONTROL_FLOW)' tools/static-curl $(STATIC_LIBCURL)
	@$(BUILD_ALL) STATIC_CURL=1 all hosting-programs
	@$(MAKE) -s --no-print-directory STATIC_CURL=1 MAPPED=$(AT)/hosting/linked mapped
	@tools/hosting/pack $(AT)/static $(AT)/hosting/linked $(STATIC_LIBCURL)/MANIFEST \
	    $(AT)/hosting

dist: hosting deb sbom ## collect archive, packages, sources, bill of materials in build/dist
	@tools/dist $(AT)/hosting $(AT)/deb $(AT)/sbom $(AT)/dist

hosting-test: hosting ## install that archive at web hosts: CGI, suEXEC, another site, Debian 11
	@tools/setup $(PACKAGES) $(TEST_PACKAGES) $(HOSTING_TEST_PACKAGES)
	@$(BUILD_ALL) all $(TEST_HELPERS)
	@tests/hosting/debian11 build/debian11
	@: >build/hosting/times
	@ARCHIVE=$$(ls -t $(CURDIR)/build/hosting/*.tar.gz | head -n 1) \
	    DEBIAN11=$(CURDIR)/build/debian11 TIMES=$(CURDIR)/build/hosting/times \
	    OUT=$(OUT) TRANSPORTS=direct HELPERS=$(CURDIR)/$(BUILD)/helpers \
	    tests/run tests/hosting/*.bats
	@cat build/hosting/times

screenshots: ## picture the dashboard's pages: build/screenshots, and doc/pictures for the README
	@tools/setup $(PACKAGES) $(CHROMIUM) $(NPM)
	@$(BUILD_ALL) all $(NODE_MODULES)
	@tests/dashboard/screenshots build/screenshots

icons: ## draw the PNG icons of the dashboard from htdocs/dashboard/icon.svg
	@tools/setup $(PACKAGES) $(CHROMIUM) $(NPM)
	@$(BUILD_ALL) $(NODE_MODULES)
	@NODE_MODULES=$(CURDIR)/$(dir $(NODE_MODULES)) \
	    node tests/dashboard/icons.js htdocs/dashboard

doc: ## write the reference to build/doc: OpenAPI, HTML, man page, Postman collection, llms.txt
	@tools/setup $(PACKAGES)
	@$(BUILD_ALL) all
	@OUT=$(OUT) tools/reference/build $(DOC) --check
	@find $(DOC) -type f | sort

clean: ## remove all built files
	rm -rf build htdocs/docs htdocs/openapi.json $(CGI:%=cgi-bin/%) $(TOOLS:%=tools/%)

help:
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

# A recipe that fails leaves no half-written file, which would look newer than its sources.
.DELETE_ON_ERROR:

.PHONY: all dist hosting hosting-programs hosting-test mapped run stop format lint lint-alone \
    test test-quick test-whole test-full test-debian13 test-arm64 dist-arm64 emulated-test \
    static-test torture fuzz \
    audit bench bench-quick growth coverage which soak world cluster cluster-stop failover \
    cluster-upgrade cluster-programs man sbom installed install uninstall doc deb package-test \
    screenshots icons clean help

-include build/probe/control.d $(shell find $(BUILD) $(FUZZ) \
    $(if $(filter 1,$(POSTGRESQL)),build/plain) -name '*.d' 2>/dev/null)
