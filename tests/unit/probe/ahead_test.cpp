// A package that is imported before a job asks for it: what is different is when, and nothing else.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <thread>

#include "probe/found_environment.h"
#include "probe/listeners.h"
#include "probe/probe_archive.h"
#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

using namespace std::chrono_literals;

/// The Python of this machine by its path, so that nothing is between it and what starts it.
std::string pythonItself() {
  std::string path;
  std::array<char, 4096> piece{};
  FILE* const said = ::popen("python3 -c 'import os, sys; print(os.path.realpath(sys.executable))'", "r");
  while (said != nullptr && std::fgets(piece.data(), piece.size(), said) != nullptr) path += piece.data();
  if (said != nullptr) ::pclose(said);
  while (!path.empty() && path.back() == '\n') path.pop_back();
  return path;
}

/// With a package "fake", and a compiler "fake" that imports it. The parameter: whether Python is started directly, or
/// by a command of which nobody knows what it is.
class Ahead : public ProbeTest, public ::testing::WithParamInterface<bool> {
 protected:
  void TearDown() override {
    ProbeTest::TearDown();
    ::unsetenv("PYTHONPATH");
    ::unsetenv("PYTHONDONTWRITEBYTECODE");
  }

  Environment withPackage(const std::string& source) {
    const std::string folder = (m_folder / "python").string();
    std::filesystem::create_directory(folder);
    if (!source.empty()) file("python/fake.py", source);
    file("python/fusescope_compiler_fake.py",
         "import os, sys\n"
         "from fusescope_probe import base\n"
         "class Compiler(base.Compiler):\n"
         "    def open(self, request, files, out_folder, progress):\n"
         "        fake = base.import_package('fake', 'fake-package')\n"
         "        return {'version': fake.version, 'about': {'pid': os.getpid(), 'group': os.getpgrp(),\n"
         "                'imported_by': getattr(fake, 'pid', 0), 'path': sys.path, 'parent': os.getppid(),\n"
         "                'variable': os.environ.get('FAKE_VARIABLE', '')}}\n"
         "    def echo(self, request, files, out_folder, progress):\n"
         "        return {'text': request['text']}\n");
    if (!GetParam()) return confirmed(fmt::format("env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={} python3", folder));
    ::setenv("PYTHONPATH", folder.c_str(), 1);
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    return confirmed(pythonItself());
  }
  static ProbeOptions options() {
    return {.open = 20s, .ahead = {.compiler = "fake", .what = "(('fake',), {'FAKE_VARIABLE': 'is set'})"}};
  }
  std::string problemOf(const std::string& source, bool isAhead) {
    endIdleListeners();
    const Environment environment = withPackage(source);
    const auto job = ProbeJob::start(environment, "fake", {}, isAhead ? options() : ProbeOptions{});
    return job.ok() ? "" : job.error().text();
  }
  bool isImporting() const { return std::filesystem::exists(m_folder / "temporary/importing"); }
  void hasImported() const { std::filesystem::remove(m_folder / "temporary/importing"); }
  static constexpr const char* kHangs =
      "import ctypes, os\nopen(os.environ['TMPDIR'] + '/importing', 'w').close()\nctypes.PyDLL(None).sleep(1000)";
};

TEST_P(Ahead, IsTheProcessOfTheFirstJobOfItsCompiler) {
  const Environment environment = withPackage("import os\npid, version = os.getpid(), '1'");
  const auto first = ProbeJob::start(environment, "fake", {}, options());
  ASSERT_TRUE(first.ok()) << first.error().text();
  const Json about = first.value()->opened()["about"];
  EXPECT_EQ(about["pid"], about["imported_by"]);
  EXPECT_EQ(about["pid"], about["group"]) << "it has a process group of its own";
  EXPECT_EQ(about["variable"], "is set");
  for (const Json& entry : about["path"]) EXPECT_NE(entry, "");
  EXPECT_EQ(asked(*first.value(), "echo", {{"text", std::string(300'000, 'x')}})["text"], std::string(300'000, 'x'));
  const auto second = ProbeJob::start(environment, "fake", {}, options());
  ASSERT_TRUE(second.ok()) << second.error().text();
  EXPECT_NE(second.value()->opened()["about"]["pid"], about["pid"]);
  EXPECT_EQ(second.value()->opened()["about"]["variable"], "") << "what a compiler sets, its own part sets";
}

TEST_P(Ahead, WhatFailsSaysTheSame) {
  for (const char* source :
       {"", "import a_library_that_is_not_there", "raise ImportError('libfake.so.3: cannot open shared object file')",
        "raise SystemExit(3)", "this is no Python", "nothing = 1",
        "import os\nprint('so far so good', flush=True)\nos.kill(os.getpid(), 11)", "import os\nos._exit(3)"}) {
    const std::string said = problemOf(source, false);
    EXPECT_NE(said, "") << source;
    EXPECT_EQ(problemOf(source, true), said) << source;
  }
}

TEST_P(Ahead, APackageThatPrintsDoesNoHarm) {
  EXPECT_EQ(problemOf("import os\nprint('{\"event\":\"ended\"}')\nos.write(1, b'x' * 200000)\nversion = '1'", true),
            "");
}

TEST_P(Ahead, APackageThatHangsIsEnded) {
  ProbeOptions brief = options();
  brief.open = 2s;
  const auto job = ProbeJob::start(withPackage(kHangs), "fake", {}, brief);
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.error().text().find("did not answer \"open\" in time"), std::string::npos) << job.error().text();
  hasImported();
}

TEST_P(Ahead, ImportingCanBeCancelled) {
  std::stop_source stop;
  const Environment environment = withPackage(kHangs);
  std::thread cancels([&] {
    EXPECT_TRUE(eventually([&] { return isImporting(); }));
    stop.request_stop();
  });
  const auto job = ProbeJob::start(environment, "fake", stop.get_token(), options());
  cancels.join();
  ASSERT_FALSE(job.ok());
  EXPECT_TRUE(job.error().cancelled) << job.error().text();
  hasImported();
}

TEST_P(Ahead, WhatNobodyAsksForEndsWithTheListener) {
  const auto found = tryEnvironment(withPackage(kHangs), {}, options());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().problem, "");
  EXPECT_TRUE(eventually([&] { return isImporting(); }));
  EXPECT_EQ(processes().size(), 3U) << "the listener, its keeper, and the one that imports";
  hasImported();
}

TEST_P(Ahead, ALimitOfMemoryIsThatOfANewProcess) {
  ProbeOptions little = options();
  little.memoryBytes = std::int64_t{1} << 30;
  const auto job = ProbeJob::start(withPackage("import os\npid, version = os.getpid(), '1'"), "fake", {}, little);
  ASSERT_TRUE(job.ok()) << job.error().text();
  EXPECT_EQ(job.value()->opened()["about"]["variable"], "") << "it was not the one that imported ahead";
}

TEST_P(Ahead, NothingIsLeftOfAListenerThatIsKilledMeanwhile) {
  const auto found = tryEnvironment(withPackage(kHangs), {}, options());
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(eventually([&] { return isImporting(); }));
  hasImported();
  int listener = 0;
  for (const int process : processes()) {
    std::istringstream children(textOfFile(fmt::format("/proc/{0}/task/{0}/children", process)));
    if (int child = 0; children >> child) listener = process;
  }
  ASSERT_GT(listener, 0);
  ::kill(listener, SIGKILL);
  EXPECT_TRUE(eventually([&] { return processes().empty(); }));
  EXPECT_TRUE(eventually([&] { return leftFolders().empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Starts, Ahead, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "ByPath" : "ByACommand"; });

TEST(ImportedAhead, IsWhatEachCompilerSays) {
  EXPECT_EQ(importedAhead("openvino"), "(('openvino',), {'OPENBLAS_NUM_THREADS': '1'})");
  EXPECT_EQ(importedAhead("onnxruntime"),
            "(('onnxruntime',), {'ORT_DISABLE_TELEMETRY': '1', 'OPENBLAS_NUM_THREADS': '1'})");
  EXPECT_EQ(importedAhead("trtexec"), "");
  EXPECT_EQ(importedAhead("no-such-one"), "");
}

}  // namespace
