# Switchboard. `make help` lists the targets.

# --- Stuff to set on the command line -----------------------------------------------------------
CC      = gcc
CFLAGS  = -O2 -g
PREFIX  = /usr
DESTDIR =
SANITIZE =
V =
PORT    = 8080
RUN_DIR = ./run

# --- Nothing to set below -----------------------------------------------------------------------
Q := $(if $(V),,@)
# Where objects go, and where the executables go: beside their sources, except in sanitizer builds.
BUILD := build/plain
OUT   := .
WARNINGS := -Wall -Wextra -Wformat=2 -Wconversion -Wshadow -Wvla -Wimplicit-fallthrough -Werror
HARDENING := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection \
    -fcf-protection=full -ftrivial-auto-var-init=zero -fno-delete-null-pointer-checks \
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
FLAGS += $(HARDENING)
endif

# Executables by what they may link.
CGI_PLAIN := root health version
CGI_STORE := me
CGI_GRAPH := messages
CGI := $(CGI_PLAIN) $(CGI_STORE) $(CGI_GRAPH)
TOOLS := switchboard

LIBRARY := $(BUILD)/libswitchboard.a
LIBRARY_SOURCES := $(wildcard lib/base/*.c lib/web/*.c lib/store/*.c lib/graph/*.c lib/*.c)
LIBRARY_OBJECTS := $(LIBRARY_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/lib/store/schema.o
ADMIN_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/admin/*.c))

FCGI   := -l:libfcgi.a
SQLITE := -l:libsqlite3.a -lm
SODIUM := -l:libsodium.a
CURL   := -lcurl

BINARIES := $(CGI:%=$(OUT)/cgi-bin/%) $(TOOLS:%=$(OUT)/tools/%)

all: $(BINARIES)

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

$(OUT)/tools/switchboard: $(BUILD)/tools/switchboard.o $(ADMIN_OBJECTS) $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(DYNAMIC) -o $@ $^ $(SQLITE) $(SODIUM)

clean:
	rm -rf build $(CGI:%=cgi-bin/%) $(TOOLS:%=tools/%)

.PHONY: all clean

-include $(shell find build -name '*.d' 2>/dev/null)
