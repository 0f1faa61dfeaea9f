// Which environments there are, what is found in them, and which commands may be started.
#include "probe/environments.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/shell_quoted.h"
#include "probe/command_words.h"
#include "probe/found_environment.h"
#include "probe/listeners.h"
#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

class Environments : public ProbeTest {
 protected:
  void SetUp() override {
    ProbeTest::SetUp();
    m_path = std::getenv("PATH");
  }
  void TearDown() override {
    ::setenv("PATH", m_path.c_str(), 1);
    ProbeTest::TearDown();
  }
  /// A file that can be run.
  std::filesystem::path program(const std::string& name) const {
    std::filesystem::create_directories((m_folder / name).parent_path());
    const auto path = file(name, "#!/bin/sh\nexit 0\n");
    ::chmod(path.c_str(), 0700);
    return path;
  }
  static std::vector<std::string> commands() {
    std::vector<std::string> all;
    for (const Environment& environment : findEnvironments()) all.push_back(environment.command);
    return all;
  }
  std::filesystem::path userFile() const { return m_folder / "configuration/fusescope/environments.json"; }
  using Texts = std::vector<std::string>;
  std::string m_path;
};

TEST_F(Environments, AreFoundOnPathAndWhereOneIsActive) {
  ::setenv("PATH", (m_folder / "a").c_str(), 1);
  EXPECT_EQ(commands(), Texts{});
  const auto python3 = program("a/python3");
  EXPECT_EQ(commands(), Texts{"python3"});
  std::filesystem::create_symlink("python3", m_folder / "a/python");
  EXPECT_EQ(commands(), Texts{"python3"}) << "both are one";
  std::filesystem::remove(m_folder / "a/python");
  program("a/python");
  EXPECT_EQ(commands(), (Texts{"python3", "python"}));
  std::filesystem::create_directories(m_folder / "my venv/bin");
  std::filesystem::create_symlink(python3, m_folder / "my venv/bin/python");
  ::setenv("VIRTUAL_ENV", (m_folder / "my venv").c_str(), 1);
  EXPECT_EQ(commands(), (Texts{"'" + (m_folder / "my venv/bin/python").string() + "'", "python3", "python"}));
  for (const std::string& command : commands()) EXPECT_TRUE(isConfirmed(command)) << command;
  EXPECT_FALSE(isConfirmed("python3 ")) << "it is the exact text that counts";
}

TEST_F(Environments, TheUsersAreKept) {
  EXPECT_TRUE(addEnvironment({.name = "box", .command = "ssh box python3"}).ok());
  EXPECT_TRUE(
      addEnvironment(
          {.name = "other", .command = "ssh other python3", .keepsFiles = true, .memoryBytes = std::int64_t{3} << 30})
          .ok());
  EXPECT_TRUE(addEnvironment({.name = "box", .command = "ssh box python3.12"}).ok());
  const auto users = userEnvironments();
  ASSERT_TRUE(users.ok()) << users.error().text();
  const std::vector<Environment> expected{
      {.name = "other", .command = "ssh other python3", .keepsFiles = true, .memoryBytes = std::int64_t{3} << 30},
      {.name = "box", .command = "ssh box python3.12"}};
  EXPECT_EQ(users.value(), expected);
  EXPECT_EQ(findEnvironments().back(), expected.back());
  EXPECT_TRUE(isConfirmed("ssh box python3.12"));
  EXPECT_TRUE(removeEnvironment("box").ok());
  EXPECT_EQ(userEnvironments().value().size(), 1U);
  EXPECT_NE(removeEnvironment("othre").error().text().find("Did you mean \"other\"?"), std::string::npos);
}

TEST_F(Environments, BadOnesAreNotAdded) {
  EXPECT_FALSE(addEnvironment({.name = "", .command = "python3"}).ok());
  EXPECT_FALSE(addEnvironment({.name = "x", .command = ""}).ok());
  EXPECT_FALSE(addEnvironment({.name = "x", .command = "python3 'a"}).ok());
  EXPECT_FALSE(addEnvironment({.name = "python3", .command = "ssh box python3"}).ok());
  EXPECT_FALSE(std::filesystem::exists(userFile()));
}

TEST_F(Environments, AFileThatCannotBeReadIsSaidAndLeftAsItIs) {
  EXPECT_TRUE(confirm("ssh box python3").ok());
  for (const std::string text :
       {"{", "[]", R"({"format": "fusescope-environments", "version": 2})",
        R"({"format": "fusescope-session", "version": 1})",
        R"({"format": "fusescope-environments", "version": 1, "environments": [{"name": "x"}]})"}) {
    file(userFile().lexically_relative(m_folder.path()), text);
    EXPECT_FALSE(userEnvironments().ok()) << text;
    EXPECT_FALSE(isConfirmed("ssh box python3")) << text;
    EXPECT_FALSE(addEnvironment({.name = "x", .command = "python3"}).ok()) << text;
    EXPECT_EQ(textOfFile(userFile()), text);
  }
}

TEST_F(Environments, WhatWasNotConfirmedIsNotStarted) {
  const Environment environment{.name = "x", .command = "touch " + (m_folder / "started").string()};
  const auto job = ProbeJob::start(environment, "echo", {});
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.error().text().find("was not confirmed on this machine"), std::string::npos) << job.error().text();
  const auto found = tryEnvironment(environment, {});
  ASSERT_TRUE(found.ok());
  EXPECT_NE(found.value().problem.find("was not confirmed on this machine"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(m_folder / "started"));
  EXPECT_TRUE(confirm(environment.command).ok());
  EXPECT_FALSE(ProbeJob::start(environment, "echo", {}).ok());
}

TEST_F(Environments, SayWhatIsThere) {
  const auto found = tryEnvironment(withFakes(), {});
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found.value().problem, "");
  EXPECT_TRUE(found.value().python.starts_with("3.")) << found.value().python;
  EXPECT_NE(found.value().machine.find("Linux"), std::string::npos) << found.value().machine;
  EXPECT_GE(found.value().hello["cpus"].get<int>(), 1);
  EXPECT_GT(found.value().hello["memory"].get<std::int64_t>(), 1 << 20);
  for (const FoundCompiler& compiler : found.value().compilers)
    EXPECT_EQ(compiler.version.empty(), !compiler.problem.empty()) << compiler.compiler;
}

TEST_F(Environments, PackagesAreFoundWithoutImportingThem) {
  for (const char* folder : {"site", "site/torch-9.8.7.dist-info"})
    std::filesystem::create_directory(m_folder / folder);
  file("site/torch-9.8.7.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 9.8.7\n");
  file("site/torch.py", "raise SystemExit('it was imported')\n");
  const auto found = tryEnvironment(confirmed("env PYTHONPATH=" + (m_folder / "site").string() + " python3"), {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().hello["packages"]["torch"], "9.8.7") << found.value().problem;
}

/// Names of folders say versions, where they say them; what reads metadata is asked about all others.
TEST_F(Environments, VersionsOfPackagesAreThoseOfTheirMetadata) {
  const auto put = [&](const std::string& folder, const std::string& name, const std::string& version) {
    std::filesystem::create_directories(m_folder / folder);
    const std::string metadata = folder.ends_with(".egg-info") ? "/PKG-INFO" : "/METADATA";
    file(folder + metadata, fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", name, version));
  };
  put("first/torch-9.8.7+cpu.dist-info", "torch", "9.8.7+cpu");
  put("second/torch-1.2.3.dist-info", "torch", "1.2.3");
  put("second/Tensorrt_RTX-1.7.dist-info", "tensorrt-rtx", "1.7");
  put("second/openvino-2026.1-py3.11.egg-info", "openvino", "2026.1");
  const auto packages = [&] {
    endIdleListeners();
    const std::string path = (m_folder / "first").string() + ":" + (m_folder / "second").string();
    const auto found = tryEnvironment(confirmed("env PYTHONPATH=" + path + " python3"), {});
    return found.ok() ? found.value().hello["packages"] : Json();
  };
  const Json told = packages();
  EXPECT_EQ(told["torch"], "9.8.7+cpu") << "the first on the path";
  EXPECT_EQ(told["tensorrt-rtx"], "1.7");
  EXPECT_EQ(told["openvino"], "2026.1");
  put("second/tensorrt.egg-info", "tensorrt", "10.1");  // a name that says no version
  const Json more = packages();
  EXPECT_EQ(more["tensorrt"], "10.1");
  for (const auto& [name, version] : told.items()) EXPECT_EQ(more[name], version) << name;
}

TEST_F(Environments, TryingCanBeCancelled) {
  std::stop_source stop;
  stop.request_stop();
  const auto found = tryEnvironment(confirmed("sh -c 'exec sleep 1000'"), stop.get_token());
  ASSERT_FALSE(found.ok());
  EXPECT_TRUE(found.error().cancelled);
}

TEST(CommandWords, AreThoseOfAShell) {
  ::setenv("HOME", "/home/me", 1);
  const auto words = [](std::string_view command) { return commandWords(command).value(); };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(words("  ssh\tbox  python3 "), (Texts{"ssh", "box", "python3"}));
  EXPECT_EQ(words(R"('a b' "c \"d\" \x" e\ f g'h'"i" '')"), (Texts{"a b", R"(c "d" \x)", "e f", "ghi", ""}));
  EXPECT_EQ(words("~/venv/bin/python ~ a~ '~' ~me"), (Texts{"/home/me/venv/bin/python", "/home/me", "a~", "~", "~me"}));
  EXPECT_EQ(words("ssh box '. env.sh; exec python3'"), (Texts{"ssh", "box", ". env.sh; exec python3"}));
  for (const char* bad : {"", "  ", "a | b", "a; b", "a > b", "$HOME/python", "`a`", "a 'b", "a \"b", "a \\"})
    EXPECT_FALSE(commandWords(bad).ok()) << bad;
  for (const char* word : {"a", "a b", "", "it's", "$x;|&\"\\", "~/x"})
    EXPECT_EQ(words(shellQuoted(word)), Texts{word});
}

}  // namespace
