# Switchboard. `make help` lists the targets.

# --- Variables to set on the command line -------------------------------------------------------
CC      = gcc
CFLAGS  = -O2 -g
PREFIX  = /usr
DESTDIR =
SANITIZE ?=
PROBE ?=
V =
PORT    ?= 8080
RUN_DIR ?= ./run
# For `make run`: cgi or fcgi; the platform's URL instead of the sandbox. For `make test`: files to run.
TRANSPORT ?= cgi
GRAPH_BASE_URL ?=
TESTS   ?=
# For `make growth`: numbers of contacts; directory of the databases, default ./build/growth.
GROWTH_SIZES ?= 1000 100000 1000000
GROWTH_DIR ?=

# --- Nothing below is to be set -----------------------------------------------------------------
Q := $(if $(V),,@)
# The directory of the objects, and that of the executables: beside their sources, except in sanitizer,
# probe and coverage builds.
BUILD := build/plain
OUT   := .
WARNINGS := -Wall -Wextra -Wformat=2 -Wconversion -Wshadow -Wvla -Wimplicit-fallthrough -Werror
HARDENING := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection \
    -fcf-protection=full -fno-delete-null-pointer-checks \
    -fno-strict-overflow -fno-strict-aliasing
FLAGS := -std=c11 -D_GNU_SOURCE -Ilib -fPIE $(WARNINGS) -MMD -MP
LINK  := -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed
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
FLAGS += -DSWITCHBOARD_PROBE -DCRASH_CPU_SECONDS=1 -include tests/probe.h
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
# clang 14 accepts this flag only with a second one
FLAGS += -ftrivial-auto-var-init=zero $(if $(findstring clang,$(CC)),-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang)
endif

# Debian packages: to build and run; the tests need more.
PACKAGES := gcc libc6-dev libfcgi-dev libsqlite3-dev libsodium-dev libcurl4-openssl-dev \
    libmagic-dev libmicrohttpd-dev libcjson-dev apache2-bin ca-certificates curl jq
TEST_PACKAGES := bats binutils procps sqlite3 openssl strace slowhttptest faketime $(if $(shell command -v npm),,nodejs npm)
FUZZ_PACKAGES := clang libclang-rt-14-dev
COVERAGE_PACKAGES := gcovr
BENCH_PACKAGES := wrk sqlite3
# For the controls in Node; better-sqlite3 is compiled.
CONTROL_PACKAGES = g++ make python3 $(if $(shell command -v npm),,nodejs npm libnode-dev)

# The executables, grouped by the libraries that they link.
CGI_PLAIN := root health version
CGI_STORE := me ready webhooks platform
CGI_GRAPH := messages templates forms
CGI_MEDIA := media
CGI := $(CGI_PLAIN) $(CGI_STORE) $(CGI_GRAPH) $(CGI_MEDIA)
TOOLS := switchboard pool graph-sandbox courier

LIBRARY := $(BUILD)/libswitchboard.a
LIBRARY_SOURCES := $(wildcard lib/*/*.c)
LIBRARY_OBJECTS := $(LIBRARY_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/lib/store/schema.o \
    $(if $(PROBE),$(BUILD)/tests/probe.o)
ADMIN_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/admin/*.c))
POOL_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/supervisor/*.c))
SANDBOX_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/sandbox/*.c))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
TEST_HELPERS := $(addprefix $(BUILD)/helpers/,account ask batch crowd extremes fcgi json peak receiver without_landlock)
STARVER := $(BUILD)/tests/helpers/starve.o
STARVED := $(BUILD)/starved
STARVED_CGI := $(patsubst %,$(STARVED)/cgi-bin/%,$(CGI_STORE) $(CGI_GRAPH) $(CGI_MEDIA))
STARVED_PROGRAMS := $(STARVED_CGI) $(STARVED)/tools/courier
# Libraries that receivers of events use, at the versions of tests/package-lock.json.
NODE_MODULES := build/npm/node_modules/.package-lock.json

FCGI   := -l:libfcgi.a
SQLITE := -l:libsqlite3.a -lm
SODIUM := -l:libsodium.a
CURL   := -lcurl
MAGIC  := -lmagic

BINARIES := $(CGI:%=$(OUT)/cgi-bin/%) $(TOOLS:%=$(OUT)/tools/%)

all: $(BINARIES) ## build all programs

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -c -o $@ $<

# schema.sql is compiled in unchanged: `switchboard init` creates the database from it.
$(BUILD)/lib/store/schema.c: schema.sql
	@mkdir -p $(@D)
	@( echo '#include "store/schema.h"'; echo 'const char schema_sql[] = {'; \
	  od -An -v -tu1 schema.sql | sed 's/\([0-9][0-9]*\)/\1,/g'; echo '0};' ) > $@

$(BUILD)/lib/store/schema.o: $(BUILD)/lib/store/schema.c
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -c -o $@ $<

$(LIBRARY): $(LIBRARY_OBJECTS)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(CGI_PLAIN:%=$(OUT)/cgi-bin/%): $(OUT)/cgi-bin/%: $(BUILD)/cgi-bin/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(STATIC) -o $@ $< $(LIBRARY) $(FCGI)

$(CGI_STORE:%=$(OUT)/cgi-bin/%): $(OUT)/cgi-bin/%: $(BUILD)/cgi-bin/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(STATIC) -o $@ $< $(LIBRARY) $(FCGI) $(SQLITE) $(SODIUM)

$(CGI_GRAPH:%=$(OUT)/cgi-bin/%): $(OUT)/cgi-bin/%: $(BUILD)/cgi-bin/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $< $(LIBRARY) $(FCGI) $(SQLITE) $(SODIUM) $(CURL)

$(CGI_MEDIA:%=$(OUT)/cgi-bin/%): $(OUT)/cgi-bin/%: $(BUILD)/cgi-bin/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $< $(LIBRARY) $(FCGI) $(SQLITE) $(SODIUM) $(CURL) \
	    $(MAGIC)

$(OUT)/tools/switchboard: $(BUILD)/tools/switchboard.o $(ADMIN_OBJECTS) $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $^ $(SQLITE) $(SODIUM) $(CURL)

$(OUT)/tools/courier: $(BUILD)/tools/courier.o $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $^ $(if $(PROBE),$(FCGI)) $(SQLITE) $(SODIUM) $(CURL)

$(OUT)/tools/pool: $(BUILD)/tools/pool.o $(POOL_OBJECTS) $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $^

$(OUT)/tools/graph-sandbox: $(SANDBOX_OBJECTS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $^ -lmicrohttpd -lcjson -lpthread $(SODIUM) $(CURL)

$(UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $< $(LIBRARY) $(FCGI) $(SQLITE) $(SODIUM) $(CURL)

$(TEST_HELPERS): $(BUILD)/helpers/%: $(BUILD)/tests/helpers/%.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $^ -lpthread -lcjson

# The same executables, in which any allocation can be made to fail: tests/helpers/starve.c. None of them
# is static, so that the allocations of shared libraries can be made to fail too.
$(STARVED_CGI): $(STARVED)/cgi-bin/%: $(BUILD)/cgi-bin/%.o $(STARVER) $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -Wl,--wrap=main -o $@ $< $(STARVER) $(LIBRARY) $(FCGI) \
	    $(SQLITE) $(SODIUM) $(CURL) $(MAGIC)

$(STARVED)/tools/courier: $(BUILD)/tools/courier.o $(STARVER) $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -Wl,--wrap=main -o $@ $^ $(SQLITE) $(SODIUM) $(CURL)

$(NODE_MODULES): tests/package.json tests/package-lock.json
	@mkdir -p build/npm
	@cp $^ build/npm
	$(Q)cd build/npm && npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

export PORT RUN_DIR TRANSPORT GRAPH_BASE_URL GROWTH_SIZES GROWTH_DIR
BUILD_ALL = $(MAKE) -s --no-print-directory -j$$(nproc)

run: ## install missing packages, build, start everything, send a message
	@tools/run --check
	@tools/setup $(PACKAGES)
	@$(BUILD_ALL) all
	@tools/run

stop: ## stop the programs that `make run` started
	@tools/stop

test: ## install missing packages, build, run the whole suite
	@tools/setup $(PACKAGES) $(TEST_PACKAGES) $(FUZZ_PACKAGES)
	@$(BUILD_ALL) all probes $(UNIT_TESTS) $(TEST_HELPERS) $(STARVED_PROGRAMS) $(SOAK_PROGRAMS) $(NODE_MODULES) $(FUZZ_TARGETS)
	@OUT=$(OUT) UNIT=$(BUILD)/unit HELPERS=$(CURDIR)/$(BUILD)/helpers tests/run $(TESTS)

test-full: export TEST_FULL = 1
test-full: test ## run the long forms too: every test over each transport, five times the points

# The sweeps whose points are all tried; `make test` tries a part of them.
TORTURE := key_killed idempotency_killed platform_sweep courier_sweep torture_send torture_upload torture_memory starved_pool

torture: ## kill programs at every system call, fail every call and every allocation
	@tools/setup $(PACKAGES) $(TEST_PACKAGES)
	@$(BUILD_ALL) all $(TEST_HELPERS) $(STARVED_PROGRAMS)
	@OUT=$(OUT) HELPERS=$(CURDIR)/$(BUILD)/helpers SWEEP_POINTS=1000000 LIMIT=7200 tests/run \
	    $(or $(TESTS),$(TORTURE:%=tests/%.bats))

# clang builds the fuzz targets and a library for them. FUZZ_SECONDS is the time for each target.
FUZZ := build/fuzz
FUZZ_SECONDS = 30
FUZZ_FLAGS := -std=c11 -D_GNU_SOURCE -Ilib -O1 -g -fno-omit-frame-pointer \
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FUZZ_OBJECTS := $(patsubst %.c,$(FUZZ)/%.o,$(filter-out lib/api/mime_detect.c,$(LIBRARY_SOURCES))) \
    $(FUZZ)/lib/store/schema.o
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(FUZZ)/%,$(wildcard tests/fuzz/*.c))

$(FUZZ)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) -MMD -MP -c -o $@ $<

$(FUZZ)/lib/store/schema.o: $(BUILD)/lib/store/schema.c
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) -c -o $@ $<

$(FUZZ)/libswitchboard.a: $(FUZZ_OBJECTS)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(FUZZ_TARGETS): $(FUZZ)/%: $(FUZZ)/tests/fuzz/%.o $(FUZZ)/libswitchboard.a
	$(Q)clang -fsanitize=fuzzer,address,undefined -o $@ $^ $(FCGI) $(SQLITE) $(SODIUM) -lcjson

fuzz: ## run hostile input against every parser, FUZZ_SECONDS each
	@tools/setup $(PACKAGES) $(FUZZ_PACKAGES)
	@$(BUILD_ALL) $(FUZZ_TARGETS)
	@tests/fuzz/run $(FUZZ) $(FUZZ_SECONDS)

# The programs for comparison are built with the same flags as ours.
BENCH := $(BUILD)/bench
BENCH_PROGRAMS := $(patsubst tests/bench/%.c,$(BENCH)/%,$(filter-out %/unconfined.c,$(wildcard tests/bench/*.c))) \
    $(addprefix $(BENCH)/unconfined_,health me messages)

$(BENCH)/%_cgi: $(BUILD)/tests/bench/%_cgi.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(STATIC) -o $@ $<

$(BENCH)/%_fcgi: $(BUILD)/tests/bench/%_fcgi.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(STATIC) -o $@ $< $(FCGI)

# The same executables without confinement.
$(BENCH)/unconfined_health $(BENCH)/unconfined_me: $(BENCH)/unconfined_%: $(BUILD)/cgi-bin/%.o \
    $(BUILD)/tests/bench/unconfined.o $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(STATIC) -o $@ $^ $(FCGI) $(SQLITE) $(SODIUM)

$(BENCH)/unconfined_messages: $(BUILD)/cgi-bin/messages.o $(BUILD)/tests/bench/unconfined.o $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $^ $(FCGI) $(SQLITE) $(SODIUM) $(CURL)

$(BENCH)/%: $(BUILD)/tests/bench/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $< $(LIBRARY) $(SODIUM)

# A program that makes the trials of a probe build without confinement.
PROBE_CONTROL := build/probe/control

build/probe/control.o: tests/probe.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -DPROBE_CONTROL -c -o $@ $<

$(PROBE_CONTROL): build/probe/control.o $(LIBRARY)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $^ $(FCGI) $(SODIUM)

# The audit uses the installed form of the executables: with SANITIZE=1 they are built without it.
probes: $(if $(filter 1,$(SANITIZE)),,$(PROBE_CONTROL)) $(BUILD)/helpers/ask
	@$(if $(filter 1,$(SANITIZE)),$(BUILD_ALL) SANITIZE= all $(PROBE_CONTROL))
	@$(BUILD_ALL) SANITIZE= PROBE=1 all

audit: ## print and check what each executable can do; V=1 prints every call and trial
	@tools/setup $(PACKAGES) binutils
	@$(BUILD_ALL) all probes
	@OUT=$(OUT) ASK=$(BUILD)/helpers/ask VERBOSE=$(V) tests/audit

bench: ## measure against bare programs and Node, 10 minutes
	@tools/setup $(PACKAGES) $(BENCH_PACKAGES) $(CONTROL_PACKAGES)
	@$(BUILD_ALL) all $(BENCH_PROGRAMS)
	@BENCH_BIN=$(BENCH) tests/bench/run

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
	@$(BUILD_ALL) COVERAGE=1 all coverage-programs
	@tests/coverage build/coverage

coverage-programs: $(UNIT_TESTS) $(TEST_HELPERS) $(STARVED_PROGRAMS) $(SOAK_PROGRAMS) $(NODE_MODULES)

# The soak: random traffic and random failures for SOAK_SECONDS, default five minutes.
SOAK := $(BUILD)/soak
SOAK_PROGRAMS := $(addprefix $(SOAK)/,traffic receiver hunter verify)
SOAK_SHARED := $(BUILD)/tests/soak/history.o

$(SOAK)/traffic: $(patsubst %,$(BUILD)/tests/soak/%.o,traffic clients configurator platform mail exchange world listener)
$(SOAK)/receiver: $(patsubst %,$(BUILD)/tests/soak/%.o,receiver listener)
$(SOAK)/hunter: $(BUILD)/tests/soak/hunter.o
$(SOAK)/verify: $(BUILD)/tests/soak/verify.o
$(SOAK_PROGRAMS): $(SOAK_SHARED) $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $(filter %.o,$^) $(LIBRARY) $(SODIUM) $(CURL) -lpthread

soak: ## run five minutes of random traffic, kills, full disk and locks, then check all data
	@tools/setup $(PACKAGES) $(TEST_PACKAGES)
	@$(BUILD_ALL) all $(SOAK_PROGRAMS)
	@OUT=$(OUT) SOAK_BIN=$(SOAK) tests/soak/run

install: all ## install below DESTDIR and PREFIX
	@OUT='$(OUT)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' tools/install

clean: ## remove all built files
	rm -rf build $(CGI:%=cgi-bin/%) $(TOOLS:%=tools/%)

help:
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

.PHONY: all run stop test test-full torture probes audit bench bench-quick growth fuzz install clean help

-include build/probe/control.d $(shell find $(BUILD) $(FUZZ) -name '*.d' 2>/dev/null)
