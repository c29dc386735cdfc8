# The programs of the tests: unit tests, helpers, fuzz targets, benchmarks, the soak, probes, and
# the compilation that `make lint` does. Included by the Makefile, whose rule links the programs.

# --- Debian packages ----------------------------------------------------------------------------
NPM := $(if $(shell command -v npm),,nodejs npm)
HOSTING_TEST_PACKAGES := busybox-static apache2-suexec-pristine debootstrap \
    libapache2-mod-security2 libnginx-mod-http-modsecurity modsecurity-crs nginx-light lighttpd
# In Ubuntu the browser is a snap, which chromium-browser installs under another name.
CHROMIUM := "chromium|chromium-browser"
HEADLESS_CHROMIUM := "chromium-headless-shell|chromium-browser"
TEST_PACKAGES := bats binutils procps sqlite3 openssl strace slowhttptest faketime gojq man-db \
    mandoc zsh $(CHROMIUM) $(HEADLESS_CHROMIUM) libpq-dev postgresql pgbouncer php-cli python3 \
    gdb git $(NPM)
CLUSTER_PACKAGES := libpq-dev postgresql patroni python3-etcd etcd-server pgbouncer haproxy \
    procps sqlite3
LINT_PACKAGES := libpq-dev clang clang-format shellcheck $(NPM)
# The library of the sanitizers is in another package in Ubuntu 22.04.
FUZZ_PACKAGES := clang "libclang-rt-dev|libclang-common-14-dev"
COVERAGE_PACKAGES := gcovr
BENCH_PACKAGES := wrk sqlite3
# For the controls in Node; better-sqlite3 is compiled.
CONTROL_PACKAGES = g++ make python3 $(NPM) $(if $(NPM),libnode-dev)

# --- Unit tests and helpers ---------------------------------------------------------------------
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
$(UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(LIBRARY)
$(UNIT_TESTS): LIBS = $(FCGI) $(SQLITE) $(SODIUM) $(CURL)

TEST_HELPERS := $(addprefix $(BUILD)/helpers/,account ask batch cgi_request crowd extremes fcgi \
    hold http_request json peak receiver service_manager without_landlock \
    $(if $(filter 1,$(POSTGRESQL)),query))
$(TEST_HELPERS): $(BUILD)/helpers/%: $(BUILD)/tests/helpers/%.o
$(TEST_HELPERS): LIBS = -lpthread -lcjson
$(BUILD)/helpers/query: LIBS = -lpq
$(BUILD)/helpers/service_manager: $(LIBRARY)

# The CLI of the next schema version, to which the tests migrate a database. Its objects come before
# the library's, which then gives no object for the same names.
NEXT := $(BUILD)/next
NEXT_PROGRAM := $(BUILD)/helpers/next_switchboard
NEXT_OBJECTS := $(NEXT)/steps.o $(NEXT)/schema.o \
    $(if $(filter 1,$(POSTGRESQL)),$(NEXT)/schema_postgresql.o)
$(NEXT)/schema.sql: schema.sql tests/next/schema.sed
	@mkdir -p $(@D)
	@sed -f tests/next/schema.sed schema.sql > $@

$(NEXT)/released.h: schema.sql tools/schema/source
	@mkdir -p $(@D)
	@tools/schema/source sqlite schema.sql | \
	    sed -n 's/^const int schema_edition = \(.*\);/#define RELEASED_EDITION \1/p' > $@

$(NEXT)/schema.c: $(NEXT)/schema.sql tools/schema/source
	@tools/schema/source sqlite $< > $@

$(NEXT)/schema_postgresql.c: $(NEXT)/schema.sql tools/schema/postgresql.awk tools/schema/source
	@tools/schema/source postgresql $< > $@

$(NEXT)/steps.o: tests/next/steps.c $(NEXT)/released.h
	$(Q)$(CC) $(FLAGS) -include $(NEXT)/released.h $(CFLAGS) -c -o $@ $<

$(NEXT)/schema.o $(NEXT)/schema_postgresql.o: %.o: %.c
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -c -o $@ $<

$(NEXT_PROGRAM): $(BUILD)/tools/switchboard.o $(ADMIN_OBJECTS) $(BUILD)/linked.o $(NEXT_OBJECTS) \
    $(LIBRARY)
$(NEXT_PROGRAM): LIBS = $(SQLITE) $(SODIUM) $(CURL)

# --- Starved programs: the executables, in which any allocation can be made to fail --------------
# tests/helpers/starve.c. None of them is static, so that the allocations of shared libraries can be
# made to fail too.
STARVER := $(BUILD)/tests/helpers/starve.o
STARVED := $(BUILD)/starved
STARVED_CGI := $(patsubst %,$(STARVED)/cgi-bin/%,$(CGI_STORE) $(CGI_GRAPH) $(CGI_MEDIA))
STARVED_PROGRAMS := $(STARVED_CGI) $(STARVED)/tools/courier
$(STARVED_CGI): $(STARVED)/cgi-bin/%: $(BUILD)/cgi-bin/%.o $(STARVER) $(LIBRARY)
$(STARVED_CGI): LIBS = $(FCGI) $(SQLITE) $(SODIUM) $(CURL) $(MAGIC)
$(STARVED)/tools/courier: $(BUILD)/tools/courier.o $(STARVER) $(LIBRARY)
$(STARVED)/tools/courier: LIBS = $(SQLITE) $(SODIUM) $(CURL)
$(STARVED_PROGRAMS): FORM = $(DYNAMIC) -Wl,--wrap=main

# The sweeps of `make torture`, which tries all their points; `make test` tries a part of them.
TORTURE := sweeps sweeps_stored courier_sweep media_archive_sweep key_killed \
    key_steps_killed starved_pool

# --- The soak: random traffic and random failures for SOAK_SECONDS, default five minutes ---------
SOAK := $(BUILD)/soak
SOAK_PROGRAMS := $(addprefix $(SOAK)/,traffic receiver hunter verify)
SOAK_TRAFFIC := traffic clients configurator platform mail exchange world listener
$(SOAK)/traffic: $(patsubst %,$(BUILD)/tests/soak/%.o,$(SOAK_TRAFFIC))
$(SOAK)/receiver: $(patsubst %,$(BUILD)/tests/soak/%.o,receiver listener)
$(SOAK)/hunter: $(BUILD)/tests/soak/hunter.o
$(SOAK)/verify: $(BUILD)/tests/soak/verify.o
$(SOAK_PROGRAMS): $(BUILD)/tests/soak/history.o $(LIBRARY)
$(SOAK_PROGRAMS): LIBS = $(SODIUM) $(CURL) -lpthread

# --- The world: days of the gateway's life in seconds, from a seed --------------------------------
# The programs themselves, each with another name for its `main`, and the simulator, which has
# functions of the C library and of libcurl instead of the libraries' own.
WORLD := $(BUILD)/world
WORLD_CGI := campaigns messages outgoing platform threads
WORLD_TOOLS := courier sender switchboard
WORLD_MAINS := $(patsubst %,$(WORLD)/%_main.o,$(filter-out messages,$(WORLD_CGI)))
WORLD_NAME = $(patsubst %_main,%,$(notdir $*))
WORLD_OBJECTS := $(WORLD_CGI:%=$(WORLD)/%.o) $(WORLD_TOOLS:%=$(WORLD)/%.o) $(WORLD_MAINS) \
    $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/world/*.c)) $(ADMIN_OBJECTS) $(BUILD)/linked.o
$(WORLD_CGI:%=$(WORLD)/%.o): $(WORLD)/%.o: cgi-bin/%.c
$(WORLD_TOOLS:%=$(WORLD)/%.o): $(WORLD)/%.o: tools/%.c
$(WORLD_MAINS): $(WORLD)/%_main.o: lib/web/serve_main.c
$(WORLD_CGI:%=$(WORLD)/%.o) $(WORLD_TOOLS:%=$(WORLD)/%.o) $(WORLD_MAINS):
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -Dmain=$(WORLD_NAME)_main -Dthis_service=$(WORLD_NAME)_service \
	    $(CFLAGS) -c -o $@ $<

$(WORLD)/world: $(WORLD_OBJECTS) $(LIBRARY)
$(WORLD)/world: LIBS = $(FCGI) $(SQLITE) $(SODIUM) $(CURL)

# --- A power failure: what processes write and sync is recorded, and cut off ----------------------
POWER := $(BUILD)/power
# The recorder is preloaded, which a static executable ignores.
POWER_CGI := $(addprefix $(POWER)/cgi-bin/,messages platform)
POWER_PROGRAMS := $(POWER)/power $(POWER)/recorder.so $(POWER_CGI) $(POWER)/tools/courier
$(POWER_CGI): $(POWER)/cgi-bin/%: $(BUILD)/cgi-bin/%.o $(LIBRARY)
$(POWER_CGI): LIBS = $(FCGI) $(SQLITE) $(SODIUM) $(CURL)
$(POWER)/tools/courier: $(BUILD)/tools/courier.o $(LIBRARY)
$(POWER)/tools/courier: LIBS = $(SQLITE) $(SODIUM) $(CURL)
$(POWER_CGI) $(POWER)/tools/courier: FORM = $(DYNAMIC)
$(POWER)/power: $(patsubst %,$(BUILD)/tests/power/%.o,power record)
$(POWER)/recorder.so: tests/power/recorder.c tests/power/record.c tests/power/record.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(LANGUAGE) -fPIC $(WARNINGS) $(CFLAGS) -shared -o $@ $(filter %.c,$^)

# --- A cluster: several hosts on one PostgreSQL ---------------------------------------------------
CLUSTER := $(BUILD)/cluster
CLUSTER_PROGRAMS := $(SOAK_PROGRAMS) $(CLUSTER)/ahead.so
$(CLUSTER)/ahead.so: tests/cluster/ahead.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(LANGUAGE) -fPIC $(WARNINGS) $(CFLAGS) -shared -o $@ $<

# --- Benchmarks: the programs for comparison are built with the same flags as ours ---------------
BENCH := $(BUILD)/bench
BENCH_ALL := $(patsubst tests/bench/%.c,$(BENCH)/%,$(wildcard tests/bench/*.c))
BENCH_BARE := $(filter %_cgi %_fcgi,$(BENCH_ALL))
BENCH_LINKED := $(filter-out $(BENCH_BARE) %/unconfined,$(BENCH_ALL))
# The same executables without confinement.
BENCH_UNCONFINED := $(addprefix $(BENCH)/unconfined_,health me messages)
BENCH_PROGRAMS := $(BENCH_BARE) $(BENCH_LINKED) $(BENCH_UNCONFINED)
$(BENCH_BARE): $(BENCH)/%: $(BUILD)/tests/bench/%.o
$(BENCH)/hello_fcgi: $(LIBRARY)
$(BENCH_LINKED): $(BENCH)/%: $(BUILD)/tests/bench/%.o $(LIBRARY)
$(BENCH_UNCONFINED): $(BENCH)/unconfined_%: $(BUILD)/cgi-bin/%.o $(BUILD)/tests/bench/unconfined.o \
    $(LIBRARY)
$(BENCH_BARE) $(BENCH)/unconfined_health $(BENCH)/unconfined_me: FORM = $(STATIC)
$(filter %_fcgi,$(BENCH_BARE)): LIBS = $(FCGI)
$(BENCH_LINKED): LIBS = $(SODIUM)
$(BENCH_UNCONFINED): LIBS = $(FCGI) $(SQLITE) $(SODIUM)
$(BENCH)/unconfined_messages: LIBS = $(FCGI) $(SQLITE) $(SODIUM) $(CURL)

# --- Probes: executables that try what they may not do, and a control without confinement ---------
PROBE_CONTROL := build/probe/control
$(PROBE_CONTROL).o: tests/probe.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -DPROBE_CONTROL -c -o $@ $<

$(PROBE_CONTROL): $(PROBE_CONTROL).o $(LIBRARY)
$(PROBE_CONTROL): LIBS = $(FCGI) $(SODIUM)

# The programs of ONLY, or all.
comma := ,
PROBED := $(strip $(if $(ONLY),$(foreach name,$(subst $(comma), ,$(ONLY)),\
    $(patsubst %,build/probe/cgi-bin/%,$(filter $(name),$(CGI))) \
    $(patsubst %,build/probe/tools/%,$(filter $(name),courier sender))),all))

# The audit uses the installed form of the executables: with SANITIZE=1 they are built without it.
probes: $(if $(filter 1,$(SANITIZE)),,$(PROBE_CONTROL)) $(BUILD)/helpers/ask
	@$(if $(filter 1,$(SANITIZE)),$(BUILD_ALL) SANITIZE= all $(PROBE_CONTROL))
	@mkdir -p build/probe
	@$(if $(PROBED),$(BUILD_ALL) SANITIZE= POSTGRESQL= DATABASE= PROBE=1 ONLY= $(PROBED))

# --- Fuzz targets: clang builds them and a library for them ---------------------------------------
FUZZ := build/fuzz
FUZZ_FLAGS := $(LANGUAGE) -O1 -g -fno-omit-frame-pointer \
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FUZZ_SOURCES := $(filter-out lib/api/media/upload_type.c lib/engine/postgresql%,$(LIBRARY_SOURCES))
FUZZ_OBJECTS := $(FUZZ_SOURCES:%.c=$(FUZZ)/%.o) $(FUZZ)/lib/store/move/schema.o
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(FUZZ)/%,$(wildcard tests/fuzz/*.c))

$(FUZZ)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) -MMD -MP -c -o $@ $<

$(FUZZ)/lib/store/move/schema.o: $(BUILD)/lib/store/move/schema.c
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) -c -o $@ $<

$(FUZZ)/libswitchboard.a: $(FUZZ_OBJECTS)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(FUZZ_TARGETS): $(FUZZ)/%: $(FUZZ)/tests/fuzz/%.o $(FUZZ)/libswitchboard.a
	$(Q)clang -fsanitize=fuzzer,address,undefined -o $@ $^ $(FCGI) $(SQLITE) $(SODIUM) $(CURL) \
	    -lcjson

# --- Libraries of npm, at the versions of tests/package-lock.json ---------------------------------
# Those that receivers of events use, and those that drive Chromium.
NODE_MODULES := build/npm/node_modules/.package-lock.json
$(NODE_MODULES): tests/package.json tests/package-lock.json
	@mkdir -p build/npm
	@cp $^ build/npm
	$(Q)cd build/npm && npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

# --- What the suite needs, and what the Makefile's rule links ------------------------------------
# A line `# needs: WORD...` of a bats file names what it uses except for the programs and helpers.
# With TESTS, `make test` builds only that.
NEEDED_fuzz = $(FUZZ_TARGETS)
NEEDED_next = $(NEXT_PROGRAM)
NEEDED_node = $(NODE_MODULES)
NEEDED_power = $(POWER_PROGRAMS)
NEEDED_probes = probes
NEEDED_soak = $(SOAK_PROGRAMS)
NEEDED_starved = $(STARVED_PROGRAMS)
NEEDED_world = $(WORLD)/world
PACKAGES_fuzz = $(FUZZ_PACKAGES)
PACKAGES_lint = $(LINT_PACKAGES)
NEEDS := fuzz lint next node power probes soak starved world
NEEDED := $(if $(TESTS),$(shell sed -nE \
    's/^. needs$(if $(filter 1,$(SANITIZE)),( with SANITIZE)?): *//p' \
    /dev/null $(filter %.bats,$(TESTS))),$(NEEDS))
$(foreach word,$(filter-out $(NEEDS),$(NEEDED)),\
    $(error a test needs $(word), which is none of $(NEEDS)))
NAMED_UNITS := $(if $(TESTS),\
    $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(filter-out %.bats,$(TESTS))),$(UNIT_TESTS))
SUITE_PROGRAMS := $(UNIT_TESTS) $(TEST_HELPERS) $(NEXT_PROGRAM) $(STARVED_PROGRAMS) \
    $(SOAK_PROGRAMS) $(WORLD)/world $(POWER_PROGRAMS) $(NODE_MODULES)
suite-programs: $(SUITE_PROGRAMS)

# The files that `make static-test` runs with the programs of STATIC_CURL=1: those that call the
# platform, by names and over TLS, and the pools.
STATIC_FILES := me messages templates media tls courier pool reuse

# The files that `make test-arm64` runs, and what it needs beside the libraries of arm64: this
# machine's compiler and library for the helpers, except the one that has all of lib/ in it.
EMULATED_FILES := me machines/scenarios
EMULATED_HELPERS = $(patsubst $(BUILD)/%,build/plain/%,$(filter-out %/service_manager,\
    $(TEST_HELPERS)))
EMULATED_TEST_PACKAGES := libc6-dev libcjson-dev bats binutils procps sqlite3 openssl strace \
    faketime gojq python3 nodejs git

# The files that run on a PostgreSQL server too, over FastCGI; DATABASE=postgresql runs all on one.
# By hand: those in which the programs use the store in many ways, of which `make test` runs the
# first ones. platform_extremes takes minutes there.
SERVER_UNITS := identity worlds updates repeat server_faults twins
SERVER_FILES = identity updates server_faults twins messages platform outgoing events \
    $(if $(WHOLE)$(TEST_FULL),$(SERVER_FILES_WHOLE)) $(if $(TEST_FULL),platform_extremes)
SERVER_FILES_WHOLE := worlds repeat failover unlock me lines threads contacts changes copy media \
    templates forms forms_responses overview inbox_write answering retention erasure export team \
    scopes factor webhook_config graph graph_messages graph_subscription ready metrics waiting \
    courier campaigns sender media_archive hosts key_steps_killed
ON_SERVER = $(if $(TESTS)$(DATABASE)$(filter 1,$(SANITIZE)),,\
    SERVER_FILES='$(SERVER_FILES)' \
    SERVER_OUT=$(CURDIR)/build/postgresql SERVER_UNIT=$(CURDIR)/build/postgresql/objects/unit \
    SERVER_HELPERS=$(CURDIR)/build/postgresql/objects/helpers)
server-programs: all $(TEST_HELPERS) $(NEXT_PROGRAM) $(SOAK_PROGRAMS) \
    $(SERVER_UNITS:%=$(BUILD)/unit/%)

TEST_BINARIES := $(UNIT_TESTS) $(TEST_HELPERS) $(NEXT_PROGRAM) $(STARVED_PROGRAMS) \
    $(SOAK_PROGRAMS) $(BENCH_PROGRAMS) $(PROBE_CONTROL) $(WORLD)/world \
    $(filter-out %.so,$(POWER_PROGRAMS))

# --- Lint: reports of gcc and clang about each C file, of shellcheck about each script ---
# A report is made again when its file, a header of it or the flags change.
LINT := build/lint
ifneq ($(filter lint-reports,$(MAKECMDGOALS)),)
LINT_C := $(patsubst %,$(LINT)/%,$(filter %.c,$(shell tests/lint/files c)))
LINT_SHELL := $(patsubst %,$(LINT)/%.shell,$(shell tests/lint/files shell))
LINT_JS := $(patsubst %,$(LINT)/%.syntax,$(shell tests/lint/files js))
lint-reports: $(LINT_C) $(LINT_SHELL) $(LINT_JS)

$(LINT)/tests/next/steps.c: LANGUAGE += -DRELEASED_EDITION=0
$(LINT)/tools/sandbox/%: LANGUAGE += -Itools/sandbox
$(LINT_C): $(LINT)/%.c: %.c Makefile tests/rules.mk tests/lint/compile tests/lint/sql \
    tests/lint/statements.awk
	@mkdir -p $(@D)
	@tests/lint/compile $@ $< $(LANGUAGE) $(LIBPQ) $(WARNINGS)

$(LINT_SHELL): $(LINT)/%.shell: % tests/lint/shellcheck $(wildcard tests/.shellcheckrc)
	@mkdir -p $(@D)
	@tests/lint/shellcheck $@ $<

$(LINT_JS): $(LINT)/%.syntax: % tests/lint/syntax
	@mkdir -p $(@D)
	@tests/lint/syntax $@ $<

-include $(LINT_C:%=%.d)
endif

.PHONY: probes suite-programs server-programs lint-reports
