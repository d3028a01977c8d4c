/* A stand-in for all_reduce_perf of nccl-tests, for tests on machines without a GPU.
 *
 * A real mpirun starts it on real hosts. The ranks really meet (once for every line of the table);
 * the numbers are invented by `python -m healthcheck.simulator.standin`, which rank 0 asks for the
 * lines. Where NCCL_DEBUG_FILE is set (%h host, %p pid) the rank of each host with the lowest pid writes there what NCCL would, by
 * `python -m healthcheck.simulator.nccl_log`, and the others that they came up. Built with -DNO_MPI it is what nccl-tests is without MPI: every process prints a table.
 *
 * It reads on every host, below /run/standin:
 *   python   the interpreter that has healthcheck installed (rank 0's host)
 *   model    more words for that command (rank 0's host), e.g. --platform FILE, --leaves 3,3,2 (n004 is the first host of
 *            leaf l2), --plant FAULT for what is slow wherever a job meets it: link:n001-n004=0.5, leaf:l1-l2=0.5,
 *            n005:hca=mlx5_1,slow=0.5
 *   delay    milliseconds before each row of the table (default 50)
 *   fault    one line, what goes wrong on this host: KIND [after=ROWS] [only=single|multi] [stubborn]
 *            segv, exit (code 3), hang, teardown (the table is whole, then it never ends), or
 *            sim:FAULT, a fault of the simulator for this host (sim:corrupt, sim:nvlink=0.4)
 * Of the ranks of a host the first one is struck. `only` looks at the number of hosts of the job,
 * `stubborn` ignores SIGINT and SIGTERM.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef NO_MPI
#include <mpi.h>
#endif

#define NAME 64
#define LINE 8192
static const char *const HERE = "/run/standin";

struct fault { char kind[NAME]; int after; };

static int read_line(const char *name, char *line, int size) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", HERE, name);
  FILE *file = fopen(path, "r");
  line[0] = 0;
  if (!file) return 0;
  if (!fgets(line, size, file)) line[0] = 0;
  fclose(file);
  line[strcspn(line, "\n")] = 0;
  return line[0] != 0;
}

static struct fault read_fault(int hosts) {
  struct fault fault = {"", 0};
  char line[256];
  if (!read_line("fault", line, sizeof line)) return fault;
  int stubborn = 0;
  for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
    if (!strncmp(word, "after=", 6)) fault.after = atoi(word + 6);
    else if (!strcmp(word, "only=single") ? hosts > 1 : !strcmp(word, "only=multi") && hosts == 1) return (struct fault){"", 0};
    else if (!strcmp(word, "stubborn")) stubborn = 1;
    else if (strncmp(word, "only=", 5)) snprintf(fault.kind, sizeof fault.kind, "%s", word);
  }
  if (stubborn) { signal(SIGINT, SIG_IGN); signal(SIGTERM, SIG_IGN); }
  return fault;
}

static void sleep_for_ever(void) { for (;;) sleep(1000); }

static void strike(const struct fault *fault, int rows) {
  if (!fault->kind[0] || rows < fault->after) return;
  if (!strcmp(fault->kind, "hang")) sleep_for_ever();
  if (!strcmp(fault->kind, "exit")) _exit(3);
  if (!strcmp(fault->kind, "segv")) { fflush(stdout); raise(SIGSEGV); }
}

static int is_row(const char *line) {
  while (*line == ' ') line++;
  return isdigit((unsigned char)*line) != 0;
}

/* What decides which parts of the hosts take part, as words for the simulator; the values go through the shell. */
static void add_variables(char *words, size_t size) {
  static const char *const names[] = {"NCCL_TESTS_SPLIT", "NCCL_TESTS_SPLIT_MASK", "NCCL_IB_HCA", "NCCL_ALGO", "CUDA_VISIBLE_DEVICES"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (!value) continue;
    if (strchr(value, '\'')) exit(1);
    snprintf(words + strlen(words), size - strlen(words), " --env '%s=%s'", names[i], value);
  }
}

/* A command of the simulator about this job. Host names go through the shell and are checked for that. */
static const char *ask(const char *what, char names[][NAME], int ranks, char faults[][NAME], int argc, char **argv) {
  static char python[512], model[1024], command[1 << 16];
  char hosts[1 << 14] = "", planted[1 << 13] = "", variables[2048] = "";
  int n_hosts = 0;
  if (!read_line("python", python, sizeof python)) { fprintf(stderr, "stand-in: no %s/python\n", HERE); exit(1); }
  read_line("model", model, sizeof model);
  for (int rank = 0; rank < ranks; rank++) {
    if (strspn(names[rank], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != strlen(names[rank])) exit(1);
    if (rank && !strcmp(names[rank], names[rank - 1])) continue;
    snprintf(hosts + strlen(hosts), sizeof hosts - strlen(hosts), "%s%s", n_hosts++ ? "," : "", names[rank]);
    if (!strncmp(faults[rank], "sim:", 4))
      snprintf(planted + strlen(planted), sizeof planted - strlen(planted), " --fault '%s:%s'", names[rank], faults[rank] + 4);
  }
  add_variables(variables, sizeof variables);
  snprintf(command, sizeof command, "exec %s -m healthcheck.simulator.%s %s --hosts %s --ranks-per-host %d%s%s --",
           python, what, model, hosts, ranks / n_hosts, planted, variables);
  for (int i = 1; i < argc; i++)
    snprintf(command + strlen(command), sizeof command - strlen(command), " '%s'", argv[i]);
  return command;
}

static FILE *table(char names[][NAME], int ranks, char faults[][NAME], int argc, char **argv) {
  FILE *lines = popen(ask("standin --program all_reduce_perf --version 2.17.10", names, ranks, faults, argc, argv), "r");
  if (!lines) { perror("stand-in"); exit(1); }
  return lines;
}

/* The log of this rank, `whole` or only that it came up. Without a place to write it NCCL goes on, too. */
static void write_nccl_log(int rank, int whole, char names[][NAME], int ranks, char faults[][NAME], int argc, char **argv) {
  const char *pattern = getenv("NCCL_DEBUG_FILE");
  char path[1024] = "", what[256], line[LINE];
  if (!pattern) return;
  for (; *pattern; pattern++) {
    const size_t used = strlen(path), room = sizeof path - used;
    if (!strncmp(pattern, "%h", 2)) { snprintf(path + used, room, "%s", names[rank]); pattern++; }
    else if (!strncmp(pattern, "%p", 2)) { snprintf(path + used, room, "%d", (int)getpid()); pattern++; }
    else snprintf(path + used, room, "%c", *pattern);
  }
  snprintf(what, sizeof what, "nccl_log --host %s --rank %d --pid %d", names[rank], rank, (int)getpid());
  FILE *log = fopen(path, "w"), *lines = NULL;
  if (!log) return;
  if (whole) lines = popen(ask(what, names, ranks, faults, argc, argv), "r");
  else fprintf(log, "%s:%d:%d [0] NCCL INFO comm 0x1 rank %d nranks %d - Init COMPLETE\n", names[rank], (int)getpid(), (int)getpid(), rank, ranks);
  while (lines && fgets(line, sizeof line, lines)) fputs(line, log);
  if (lines) pclose(lines);
  fclose(log);
}

#ifdef NO_MPI
int main(int argc, char **argv) {
  char name[1][NAME] = {""}, faults[1][NAME] = {""}, line[LINE];
  gethostname(name[0], NAME - 1);
  struct fault fault = read_fault(1);
  memcpy(faults[0], fault.kind, NAME);
  write_nccl_log(0, 1, name, 1, faults, argc, argv);
  FILE *lines = table(name, 1, faults, argc, argv);
  for (int rows = 0; fgets(line, sizeof line, lines); rows += is_row(line)) { strike(&fault, rows); fputs(line, stdout); fflush(stdout); }
  return pclose(lines) ? 1 : 0;
}
#else
/* All ranks meet; asleep, not spinning, so that many of them fit on few cores. Returns rank 0's word. */
static int meet(int word) {
  int together = 0, done = 0;
  MPI_Request request;
  MPI_Iallreduce(&word, &together, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) usleep(2000);
  return together;
}

static int count_hosts(char names[][NAME], int ranks) {
  int hosts = 0;
  for (int rank = 0; rank < ranks; rank++) hosts += !rank || strcmp(names[rank], names[rank - 1]);
  return hosts;
}

/* Of each host one rank writes a whole log: the others would write much the same, and to ask for each would load the
 * two cores of a lab. It is the one whose log is fetched; a launcher need not start the ranks of a host in their order. */
static int is_lowest_pid(int rank, char names[][NAME], int ranks) {
  int mine = (int)getpid(), *pids = calloc(ranks, sizeof *pids), lowest = 1;
  MPI_Allgather(&mine, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  for (int other = 0; other < ranks; other++) lowest &= strcmp(names[other], names[rank]) || pids[other] >= mine;
  free(pids);
  return lowest;
}

int main(int argc, char **argv) {
  int rank, ranks;
  char line[LINE], me[NAME] = "", delay[32];
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  gethostname(me, NAME - 1);
  char(*names)[NAME] = calloc(ranks, NAME), (*faults)[NAME] = calloc(ranks, NAME);
  MPI_Allgather(me, NAME, MPI_CHAR, names, NAME, MPI_CHAR, MPI_COMM_WORLD);
  struct fault fault = {"", 0};
  if (!rank || strcmp(names[rank], names[rank - 1])) fault = read_fault(count_hosts(names, ranks));
  MPI_Allgather(fault.kind, NAME, MPI_CHAR, faults, NAME, MPI_CHAR, MPI_COMM_WORLD);
  int wait_ms = read_line("delay", delay, sizeof delay) ? atoi(delay) : 50;

  write_nccl_log(rank, is_lowest_pid(rank, names, ranks), names, ranks, faults, argc, argv);
  FILE *lines = rank ? NULL : table(names, ranks, faults, argc, argv);
  for (int rows = 0;;) {
    strike(&fault, rows);
    int more = meet(rank ? 0 : fgets(line, sizeof line, lines) ? 1 + is_row(line) : 0);
    if (!more) break;
    if (more == 2) { usleep(wait_ms * 1000); rows++; }
    if (!rank) { fputs(line, stdout); fflush(stdout); }
  }
  int broken = !rank && pclose(lines);
  if (!strcmp(fault.kind, "teardown")) sleep_for_ever();
  MPI_Finalize();
  return broken ? 1 : 0;
}
#endif
