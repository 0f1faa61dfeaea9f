// What an environment may be besides a good one: each ends in a sentence that says what is wrong, in bounded time.
#include <fmt/format.h>

#include <thread>

#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

using namespace std::chrono_literals;

class BadEnvironments : public ProbeTest {
 protected:
  static std::string problemOf(const Environment& environment, const std::string& compiler = "echo",
                               const ProbeOptions& options = {}) {
    const auto job = ProbeJob::start(environment, compiler, {}, options);
    return job.ok() ? "" : job.error().text();
  }
  static std::string ofCommand(const std::string& command) {
    return problemOf(confirmed(command), "echo", {.handshake = 3s});
  }
  static std::string ofOtherProbe(const std::string& how) {
    return problemOf(
        confirmed(fmt::format("python3 {}/tests/unit/probe/python/other_probe.py {}", FUSESCOPE_SOURCE_DIR, how)),
        "echo", {.handshake = how == "echo" || how == "silence" ? 3s : 60s});
  }
  /// Python with a package "fake" of this source, and a compiler "fake" that imports it. No source: no package.
  Environment withPackage(const std::string& source) const {
    std::filesystem::create_directory(m_folder / "python");
    if (!source.empty()) file("python/fake.py", source);
    file("python/fusescope_compiler_fake.py",
         "from fusescope_probe import base\n"
         "class Compiler(base.Compiler):\n"
         "    def open(self, request, files, out_folder, progress):\n"
         "        return {'version': base.import_package('fake', 'fake-package').version}\n");
    return confirmed(
        fmt::format("env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={} python3", (m_folder / "python").string()));
  }
  static void expectSays(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\n in: " << text;
  }
};

TEST_F(BadEnvironments, NoSuchCommand) {
  expectSays(ofCommand("no-such-command-here --for sure"), {"there is no command \"no-such-command-here\""});
}

/// It would otherwise be waited for once by each part of a command that asks.
TEST_F(BadEnvironments, ACommandThatDoesNotAnswerIsWaitedForOnce) {
  const Environment silent = confirmed("sh -c 'exec sleep 1001'");
  const auto msOf = [&](std::string& problem) {
    const auto start = std::chrono::steady_clock::now();
    problem = problemOf(silent, "echo", {.handshake = 2s});
    return std::chrono::steady_clock::now() - start;
  };
  std::string first, second, third;
  EXPECT_GE(msOf(first), 2s);
  EXPECT_LT(msOf(second), 1s);
  EXPECT_EQ(first, second);
  expectSays(second, {"did not answer within 2 s"});
  std::this_thread::sleep_for(4s);
  EXPECT_GE(msOf(third), 2s) << "what was remembered is forgotten after some time";
}

TEST_F(BadEnvironments, NoPython) {
  expectSays(ofCommand("true"), {"\"true\" ended with status 0 before it answered", "starts Python 3.9 or newer"});
  expectSays(ofCommand("sh"), {"\"sh\" ended with", "before it answered", "3.9"});
  expectSays(ofCommand("cat"), {"\"cat\" ended with", "before it answered", "3.9"});
  expectSays(ofCommand("sh -c 'exec sleep 1000'"), {"did not answer within 3 s", "starts Python 3.9 or newer"});
  expectSays(ofCommand("sh -c 'exec yes'"),
             {"prints output that does not come from Python", "starts Python 3.9 or newer"});
  expectSays(ofCommand("sh -c 'exec 1>&-; exec sleep 1000'"), {"closed its standard output"});
  expectSays(ofCommand("sh -c 'echo nobody may log in >&2; exit 255'"), {"status 255", "nobody may log in", "ssh"});
}

TEST_F(BadEnvironments, ACommandThatIsNone) {
  expectSays(ProbeJob::start({.name = "x", .command = "python3 | tee"}, "echo", {}).error().text(), {"not confirmed"});
  EXPECT_FALSE(confirm("python3 | tee").ok());
  EXPECT_FALSE(confirm("'python3").ok());
  EXPECT_FALSE(confirm("  ").ok());
}

TEST_F(BadEnvironments, Python2) {
  expectSays(ofOtherProbe("python2"), {"Unknown option: -I", "It may be Python 2", "3.9 or a newer one"});
}

TEST_F(BadEnvironments, APythonThatIsTooOld) {
  std::filesystem::create_directory(m_folder / "old");
  file("old/sitecustomize.py", "import sys\nsys.version_info = (3, 7, 2)\n");
  expectSays(ofCommand(fmt::format("env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={} python3", (m_folder / "old").string())),
             {"is Python 3.7.2", "3.9 or a newer one"});
}

TEST_F(BadEnvironments, AProbeOfAnotherVersionIsNotSpokenTo) {
  expectSays(ofOtherProbe("version"), {"a probe that is not the one of this Fusescope"});
  expectSays(ofOtherProbe("no-hello"), {"a probe that is not the one of this Fusescope"});
}

TEST_F(BadEnvironments, WhatIsNotTheProtocol) {
  expectSays(ofOtherProbe("garbage"),
             {"sent data that does not follow its protocol", "Traceback (most recent call last)"});
  expectSays(ofOtherProbe("long-line"), {"a line is too long"});
  expectSays(ofOtherProbe("many-bytes"), {"announces too many bytes"});
  expectSays(ofOtherProbe("silence"), {"did not answer within 3 s"});
  expectSays(ofOtherProbe("echo"), {"did not answer within 3 s"});
}

TEST_F(BadEnvironments, NothingIsImportedFromTheCurrentFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(m_folder / "here");
  const std::string source = "raise SystemExit('imported from the current folder')\n";
  for (const char* name :
       {"json", "os", "code", "readline", "tempfile", "hashlib", "signal", "sitecustomize", "usercustomize"})
    file(fmt::format("here/{}.py", name), source);
  std::filesystem::current_path(m_folder / "here");
  const std::string fakes = std::string(FUSESCOPE_SOURCE_DIR) + "/tests/unit/probe/python";
  const auto job = started(confirmed(fmt::format("env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=:{} python3", fakes)));
  std::filesystem::current_path(before);
  ASSERT_TRUE(job);
  for (const Json& entry : job->opened()["about"]["path"]) {
    EXPECT_NE(entry, "");
    EXPECT_NE(entry, (m_folder / "here").string());
  }
}

TEST_F(BadEnvironments, NoSuchCompiler) {
  expectSays(problemOf(withFakes(), "no-such-one"), {"The probe knows no compiler \"no-such-one\"."});
  expectSays(problemOf(withFakes(), "../echo"), {"is not the name of a compiler"});
}

TEST_F(BadEnvironments, NoPackage) {
  expectSays(problemOf(withPackage(""), "fake"), {"has no package fake-package", "-m pip install fake-package"});
}

TEST_F(BadEnvironments, BrokenPackages) {
  expectSays(problemOf(withPackage("import a_library_that_is_not_there"), "fake"),
             {"The package fake-package is installed, but \"import fake\" fails", "a_library_that_is_not_there",
              "--force-reinstall fake-package"});
  expectSays(problemOf(withPackage("raise ImportError('libfake.so.3: cannot open shared object file')"), "fake"),
             {"libfake.so.3: cannot open shared object file"});
  expectSays(problemOf(withPackage("raise SystemExit(3)"), "fake"), {"SystemExit: 3"});
  expectSays(problemOf(withPackage("this is no Python"), "fake"), {"SyntaxError"});
  expectSays(problemOf(withPackage("nothing = 1"), "fake"), {"AttributeError", "version"});
}

TEST_F(BadEnvironments, APackageThatPrintsDoesNoHarm) {
  EXPECT_EQ(
      problemOf(withPackage("import os\nprint('{\"event\":\"ended\"}')\nos.write(1, b'x' * 100000)\nversion = '1'"),
                "fake"),
      "");
}

TEST_F(BadEnvironments, APackageThatCrashesWhenItIsImported) {
  expectSays(problemOf(withPackage("import os\nprint('so far so good', flush=True)\nos.kill(os.getpid(), 11)"), "fake"),
             {"the process of fake in", "was ended by signal 11 (Segmentation fault) while it worked on \"open\"",
              "the end of its log is: so far so good", "install its package again"});
  expectSays(problemOf(withPackage("import os\nos._exit(3)"), "fake"),
             {"ended with status 3 while it worked on \"open\""});
}

TEST_F(BadEnvironments, APackageThatHangsWhenItIsImported) {
  expectSays(problemOf(withPackage("import time\ntime.sleep(1000)"), "fake", {.open = 2s}),
             {"fake in", "did not answer \"open\" in time, so its process was ended: its import took longer than",
              "Start this Python yourself and import the package"});
  expectSays(problemOf(withPackage("import ctypes\nctypes.PyDLL(None).sleep(1000)"), "fake", {.open = 2s}),
             {"in time"});
}

TEST_F(BadEnvironments, OpeningCanBeCancelled) {
  std::stop_source stop;
  const Environment environment = withPackage(
      "import ctypes, os\nopen(os.environ['TMPDIR'] + '/importing', 'w').close()\nctypes.PyDLL(None).sleep(1000)");
  std::thread cancels([&] {
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(m_folder / "temporary/importing"); }));
    stop.request_stop();
  });
  const auto job = ProbeJob::start(environment, "fake", stop.get_token());
  cancels.join();
  ASSERT_FALSE(job.ok());
  EXPECT_TRUE(job.error().cancelled) << job.error().text();
  std::filesystem::remove(m_folder / "temporary/importing");
}

TEST_F(BadEnvironments, MemoryHasALimit) {
  const auto job = ProbeJob::start(withFakes(), "echo", {}, {.memoryBytes = std::int64_t{1} << 30});
  ASSERT_TRUE(job.ok()) << job.error().text();
  expectSays(job.value()->ask({.json = {{"op", "eat"}}, .files = {}}, {}).error().text(), {"not enough memory"});
  EXPECT_EQ(asked(*job.value(), "odd_numbers")["text"], "a?b") << "the job goes on";
}

TEST_F(BadEnvironments, MemoryHasALimitThatNobodyAskedFor) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  expectSays(job->ask({.json = {{"op", "claim"}}, .files = {}}, {}).error().text(),
             {"not enough memory", "may allocate", "compilers add NAME COMMAND --memory BYTES"});
  EXPECT_EQ(asked(*job, "odd_numbers")["text"], "a?b") << "the job goes on";
}

TEST_F(BadEnvironments, AnEnvironmentHasALimitOfItsOwn) {
  Environment little = withFakes();
  little.memoryBytes = std::int64_t{1} << 30;
  const auto job = started(little);
  ASSERT_TRUE(job);
  expectSays(job->ask({.json = {{"op", "eat"}}, .files = {}}, {}).error().text(), {"may allocate 1073741824 bytes"});
}

/// Drivers of cards reserve more addresses than there is memory.
TEST_F(BadEnvironments, AddressesThatAreOnlyReservedDoNotCount) {
  const auto job = ProbeJob::start(withFakes(), "echo", {}, {.memoryBytes = std::int64_t{1} << 30});
  ASSERT_TRUE(job.ok()) << job.error().text();
  EXPECT_EQ(asked(*job.value(), "reserve")["bytes"], std::int64_t{1} << 36);
}

TEST_F(BadEnvironments, ACompilerThatTheSystemKills) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  const auto said = job->ask({.json = {{"op", "crash"}, {"signal", 9}}, .files = {}}, {}).error().text();
  expectSays(said, {"signal 9 (Killed) while it worked on \"crash\"", "about to crash", "when memory runs out"});
  EXPECT_FALSE(job->isThere());
  expectSays(job->ask({.json = {{"op", "echo"}}, .files = {}}, {}).error().text(), {"has ended already"});
}

TEST_F(BadEnvironments, FilesThatCannotBeSent) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  const auto said = [&](const std::string& name, const std::filesystem::path& path) {
    return job->ask({.json = {{"op", "echo"}}, .files = {{name, path}}}, {}).error().text();
  };
  expectSays(said("x", m_folder / "not-there"), {"not-there", "there is no such file"});
  expectSays(said("x", m_folder.path()), {"is not a regular file"});
  expectSays(said("../x", file("y", "")), {"is not a valid name for a file of a request"});
}

}  // namespace
