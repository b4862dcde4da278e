# highwater: replicated, Kafka-format topics as SQLite tables.
#
#   make          build/highwater.so and ./highwater.so
#   make demo     install what is missing, build, run the main experiment
#   make test     install what is missing, build, run every test
#   make check    what CI runs on top of the tests: see .ci/run
#   make install  PREFIX=/usr/local, DESTDIR honoured; make uninstall
#
# Settings are variables: make CC=clang WERROR=1 V=1

CC      ?= cc
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
BUILD   ?= build
OPT     ?= -O2 -g
SQLITE_CFLAGS ?= $(shell pkg-config --cflags sqlite3)
SQLITE_LIBS   ?= $(shell pkg-config --libs sqlite3)
CMOCKA_LIBS   ?= $(shell pkg-config --libs cmocka)

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef \
       -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith \
       -Wcast-qual -Wwrite-strings -Wswitch-enum -Wvla -Wformat=2
ifdef WERROR
WARN += -Werror
endif
Q = $(if $(V),,@)

# What the code needs to be correct; CFLAGS and OPT stay the user's.
HW_CFLAGS = -std=c11 -fPIC -fvisibility=hidden $(WARN) -I. -MMD -MP

CORE = $(sort $(wildcard core/*/*.c))
EXT  = $(sort $(wildcard ext/*.c))
SUPPORT = $(sort $(wildcard tests/support_*.c))
SQL_TESTS  = $(patsubst tests/%.c,$(BUILD)/%,$(sort $(wildcard tests/test_sql_*.c)))
CORE_TESTS = $(filter-out $(SQL_TESTS),$(patsubst tests/%.c,$(BUILD)/%,$(sort $(wildcard tests/test_*.c))))

CORE_OBJ = $(CORE:%.c=$(BUILD)/%.o)
EXT_OBJ  = $(EXT:%.c=$(BUILD)/%.o)
SUPPORT_OBJ = $(SUPPORT:%.c=$(BUILD)/%.o)

.PHONY: all clean
.SECONDARY:

all: $(BUILD)/highwater.so

$(BUILD)/highwater.so: $(CORE_OBJ) $(EXT_OBJ)
	@echo "  LINK  $@"
	$(Q)$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(HW_CFLAGS) $(SQLITE_CFLAGS) $(OPT) $(CFLAGS) -c $< -o $@

# Core tests link without SQLite: the linker proves that core/ does not need it.
$(BUILD)/test_%: $(BUILD)/tests/test_%.o $(SUPPORT_OBJ) $(CORE_OBJ)
	$(Q)$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS)

$(BUILD)/test_sql_%: $(BUILD)/tests/test_sql_%.o | $(BUILD)/highwater.so
	$(Q)$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS) $(SQLITE_LIBS)

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
