# Switchboard. `make help` lists the targets.

# --- Stuff to set on the command line -----------------------------------------------------------
CC      = gcc
CFLAGS  = -O2 -g
PREFIX  = /usr
DESTDIR =
SANITIZE ?=
PROBE ?=
V =
PORT    ?= 8080
RUN_DIR ?= ./run
# Of `make run`: cgi or fcgi; another platform than the sandbox. Of `make test`: files to run.
TRANSPORT ?= cgi
GRAPH_BASE_URL ?=
TESTS   ?=
# Of `make growth`: how many contacts; where the databases are, ./build/growth.
GROWTH_SIZES ?= 1000 100000 1000000
GROWTH_DIR ?=

# --- Nothing to set below -----------------------------------------------------------------------
Q := $(if $(V),,@)
# Where objects go, and where the executables go: beside their sources, except in sanitizer builds.
BUILD := build/plain
OUT   := .
WARNINGS := -Wall -Wextra -Wformat=2 -Wconversion -Wshadow -Wvla -Wimplicit-fallthrough -Werror
HARDENING := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection \
    -fcf-protection=full -fno-delete-null-pointer-checks \
    -fno-strict-overflow -fno-strict-aliasing
FLAGS := -std=c11 -D_GNU_SOURCE -Ilib -fPIE $(WARNINGS) -MMD -MP
LINK  := -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed
# An executable that needs no shared library starts fastest: all but those that call the platform.
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
# Executables that can be asked what they are able to do, and made to crash.
BUILD := build/probe/objects
OUT   := build/probe
FLAGS += -DSWITCHBOARD_PROBE -DCRASH_CPU_SECONDS=1 -include tests/probe.h
endif
ifeq ($(COVERAGE),1)
# Executables that count which of their lines run.
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
# clang 14 has this one behind a second flag
FLAGS += -ftrivial-auto-var-init=zero $(if $(findstring clang,$(CC)),-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang)
endif

# Debian packages: to build and run, and what the tests need besides.
PACKAGES := gcc libc6-dev libfcgi-dev libsqlite3-dev libsodium-dev libcurl4-openssl-dev \
    libmagic-dev libmicrohttpd-dev libcjson-dev apache2-bin ca-certificates curl jq
TEST_PACKAGES := bats binutils procps sqlite3 openssl strace slowhttptest faketime $(if $(shell command -v npm),,nodejs npm)
FUZZ_PACKAGES := clang libclang-rt-14-dev
COVERAGE_PACKAGES := gcovr
BENCH_PACKAGES := wrk sqlite3
# The controls in Node, whose better-sqlite3 is compiled.
CONTROL_PACKAGES = g++ make python3 $(if $(shell command -v npm),,nodejs npm libnode-dev)

# Executables by what they may link.
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
SANDBOX_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/sandbox/*.c))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
TEST_HELPERS := $(addprefix $(BUILD)/helpers/,account ask batch crowd extremes fcgi json peak receiver without_landlock)
STARVER := $(BUILD)/tests/helpers/starve.o
STARVED := $(BUILD)/starved
STARVED_CGI := $(patsubst %,$(STARVED)/cgi-bin/%,$(CGI_STORE) $(CGI_GRAPH) $(CGI_MEDIA))
STARVED_PROGRAMS := $(STARVED_CGI) $(STARVED)/tools/courier
# Libraries that consumers of our events use, at the versions of tests/package-lock.json.
NODE_MODULES := build/npm/node_modules/.package-lock.json

FCGI   := -l:libfcgi.a
SQLITE := -l:libsqlite3.a -lm
SODIUM := -l:libsodium.a
CURL   := -lcurl
MAGIC  := -lmagic

BINARIES := $(CGI:%=$(OUT)/cgi-bin/%) $(TOOLS:%=$(OUT)/tools/%)

all: $(BINARIES) ## build everything

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -c -o $@ $<

# schema.sql is the database's birth certificate: it is compiled in as it stands.
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

$(OUT)/tools/pool: $(BUILD)/tools/pool.o
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

# The same executables, in which any allocation can be made to fail: tests/helpers/starve.c. Shared
# libraries are starved too, so none of them is static.
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

run: ## install what is missing, build, start everything, send a message
	@tools/run --check
	@tools/setup $(PACKAGES)
	@$(BUILD_ALL) all
	@tools/run

stop: ## stop what `make run` started
	@tools/stop

test: ## install what is missing, build, run the whole suite
	@tools/setup $(PACKAGES) $(TEST_PACKAGES) $(FUZZ_PACKAGES)
	@$(BUILD_ALL) all probes $(UNIT_TESTS) $(TEST_HELPERS) $(STARVED_PROGRAMS) $(SOAK_PROGRAMS) $(NODE_MODULES) $(FUZZ_TARGETS)
	@OUT=$(OUT) UNIT=$(BUILD)/unit HELPERS=$(CURDIR)/$(BUILD)/helpers tests/run $(TESTS)

test-full: export TEST_FULL = 1
test-full: test ## the suite with its long forms: every test over each transport, five times the points

# Every point of every sweep, where `make test` tries some.
TORTURE := key_killed idempotency_killed platform_sweep courier_sweep torture_send torture_upload torture_memory starved_pool

torture: ## kill and fail at every system call, fail every allocation
	@tools/setup $(PACKAGES) $(TEST_PACKAGES)
	@$(BUILD_ALL) all $(TEST_HELPERS) $(STARVED_PROGRAMS)
	@OUT=$(OUT) HELPERS=$(CURDIR)/$(BUILD)/helpers SWEEP_POINTS=1000000 LIMIT=7200 tests/run \
	    $(or $(TESTS),$(TORTURE:%=tests/%.bats))

# Fuzz targets are built by clang, the library with them. FUZZ_SECONDS is the time for each.
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

fuzz: ## hostile input for every parser, FUZZ_SECONDS each
	@tools/setup $(PACKAGES) $(FUZZ_PACKAGES)
	@$(BUILD_ALL) $(FUZZ_TARGETS)
	@tests/fuzz/run $(FUZZ) $(FUZZ_SECONDS)

# Programs that are measured beside ours are built as ours are.
BENCH := $(BUILD)/bench
BENCH_PROGRAMS := $(patsubst tests/bench/%.c,$(BENCH)/%,$(filter-out %/unconfined.c,$(wildcard tests/bench/*.c))) \
    $(addprefix $(BENCH)/unconfined_,health me messages)

$(BENCH)/%_cgi: $(BUILD)/tests/bench/%_cgi.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(STATIC) -o $@ $<

$(BENCH)/%_fcgi: $(BUILD)/tests/bench/%_fcgi.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(STATIC) -o $@ $< $(FCGI)

# The same executables, but for confine.c.
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

# The trials of a probe build, by a program that is not confined.
PROBE_CONTROL := build/probe/control

build/probe/control.o: tests/probe.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -DPROBE_CONTROL -c -o $@ $<

$(PROBE_CONTROL): build/probe/control.o $(LIBRARY)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $^ $(FCGI) $(SODIUM)

# They are looked at as they are installed, beside a suite of sanitizer builds too.
probes: $(if $(filter 1,$(SANITIZE)),,$(PROBE_CONTROL)) $(BUILD)/helpers/ask
	@$(if $(filter 1,$(SANITIZE)),$(BUILD_ALL) SANITIZE= all $(PROBE_CONTROL))
	@$(BUILD_ALL) SANITIZE= PROBE=1 all

audit: ## what each executable is made of and able to do, and the proof; V=1 for every call and trial
	@tools/setup $(PACKAGES) binutils
	@$(BUILD_ALL) all probes
	@OUT=$(OUT) ASK=$(BUILD)/helpers/ask VERBOSE=$(V) tests/audit

bench: ## measure beside bare programs and Node, 10 minutes
	@tools/setup $(PACKAGES) $(BENCH_PACKAGES) $(CONTROL_PACKAGES)
	@$(BUILD_ALL) all $(BENCH_PROGRAMS)
	@BENCH_BIN=$(BENCH) tests/bench/run

bench-quick: ## the first rows of it, without Node, in under a minute
	@tools/setup $(PACKAGES) $(BENCH_PACKAGES)
	@$(BUILD_ALL) all $(BENCH_PROGRAMS)
	@BENCH_BIN=$(BENCH) tests/bench/run --quick

growth: ## what grows with the database: the same measurements at GROWTH_SIZES rows, 15 minutes and 6 GB
	@tools/setup $(PACKAGES) $(BENCH_PACKAGES)
	@$(BUILD_ALL) all $(BENCH_PROGRAMS) $(TEST_HELPERS)
	@BENCH_BIN=$(BENCH) HELPERS=$(BUILD)/helpers tests/bench/growth

# The suite over the transports that run every line; SWEEP_POINTS bounds the sweeps.
coverage: ## run the suite on counting executables, print which lines of lib and cgi-bin it ran
	@tools/setup $(PACKAGES) $(TEST_PACKAGES) $(COVERAGE_PACKAGES)
	@$(BUILD_ALL) COVERAGE=1 all coverage-programs
	@tests/coverage build/coverage

coverage-programs: $(UNIT_TESTS) $(TEST_HELPERS) $(STARVED_PROGRAMS) $(SOAK_PROGRAMS) $(NODE_MODULES)

# The soak: five minutes of everything at once, SOAK_SECONDS of it.
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

soak: ## five minutes of random traffic, kills, full disk and locks, then look for everything
	@tools/setup $(PACKAGES) $(TEST_PACKAGES)
	@$(BUILD_ALL) all $(SOAK_PROGRAMS)
	@OUT=$(OUT) SOAK_BIN=$(SOAK) tests/soak/run

install: all ## below DESTDIR and PREFIX
	@OUT='$(OUT)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' tools/install

clean: ## remove what was built
	rm -rf build $(CGI:%=cgi-bin/%) $(TOOLS:%=tools/%)

help:
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

.PHONY: all run stop test test-full torture probes audit bench bench-quick growth fuzz install clean help

-include build/probe/control.d $(shell find $(BUILD) $(FUZZ) -name '*.d' 2>/dev/null)
