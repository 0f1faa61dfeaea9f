// `import --env 'ssh …'`, over a real sshd on the loopback interface: the torch of another machine makes the network,
// or the program of a script. A stand-in for torch gives what was recorded; the real one where it is named.
#include <fstream>
#include <optional>

#include "tests/support/ssh_server.h"
#include "tests/torch/recorded_program.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

/// Notes where it runs.
constexpr const char* kSentScript = R"(import os
import torch

open(os.environ["FUSESCOPE_TEST_RECORDING"] + "/ran.txt", "a").write(os.environ.get("SSH_CONNECTION", "here") + "\n")


class Net(torch.nn.Module):
    def forward(self, x):
        return x


def make():
    return Net(), (torch.Tensor(3, 8),)


def fails():
    return 1 / 0
)";

class ImportOverSsh : public RecordedProgram {
 protected:
  void SetUp() override {
    if (const std::string why = SshServer::whyNot(); !why.empty()) GTEST_SKIP() << why;
    m_server.emplace(m_folder / "server");
    ASSERT_TRUE(m_server->isListening()) << m_server->log();
    fs::create_directories(m_folder / "user");
    fs::copy_file(m_folder / "recording/net.pt2", program());
    std::ofstream(script()) << kSentScript;
  }

  fs::path program() const { return m_folder / "user/net.pt2"; }
  fs::path script() const { return m_folder / "user/code.py"; }
  std::string there() const { return m_server->command() + " " + environment(); }
  Lines import(const std::string& what, const Lines& more = {}) const {
    Lines arguments{"import", what, "--env", there()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// What sessions of ssh the script noted that it ran in.
  std::string ranIn() const {
    const auto text = readTextFile(m_folder / "recording/ran.txt");
    return text.ok() ? text.value() : std::string();
  }

  std::optional<SshServer> m_server;
};

TEST_F(ImportOverSsh, AProgramBecomesItsNetworkAndNeedsTheOtherMachineNoMore) {
  const Json made = json(import(program()));
  EXPECT_EQ(made["is_new"], true);
  EXPECT_EQ(made["node_count"], 23);
  EXPECT_EQ(made["tied"], 23);
  m_server.reset();
  EXPECT_EQ(json({"run", program(), "--expect", arrays()})["ok"], true);
  EXPECT_EQ(json({"import", program()})["is_new"], false);
}

TEST_F(ImportOverSsh, AScriptIsSentThereAndItsProgramComesBack) {
  const Json made = json(import(script().string() + ":make", {"--run-code"}));
  EXPECT_EQ(made["program"], (m_folder / "user/code.make.pt2").string());
  EXPECT_EQ(made["is_new"], true);
  EXPECT_TRUE(has(ranIn(), "127.0.0.1")) << "it ran in a session of ssh: " << ranIn();
  m_server.reset();
  EXPECT_EQ(json({"inspect", made["program"]})["cannot_run"], Json::array());
  EXPECT_TRUE(json({"build", made["program"], "-o", m_folder / "code.fse"})["engine"].is_string());
}

TEST_F(ImportOverSsh, NothingRunsThereThatNobodyConfirmed) {
  const std::string why = problem(import(script().string() + ":make"));
  EXPECT_TRUE(has(why, "there is no terminal to ask on: nothing was run")) << why;
  EXPECT_EQ(ranIn(), "");
}

TEST_F(ImportOverSsh, WhatFailsThereIsLocatedHere) {
  const std::string why = problem(import(script().string() + ":fails", {"--run-code"}));
  EXPECT_TRUE(has(why, script().string() + ": line 17: fails() raised ZeroDivisionError")) << why;
  EXPECT_FALSE(fs::exists(m_folder / "user/code.fails.pt2"));
}

TEST_F(ImportOverSsh, AMachineThatLetsNobodyInIsASentenceAndLeavesNothing) {
  m_server->refuseAll();
  const std::string why = problem(import(program()));
  EXPECT_TRUE(has(why, "Permission denied")) << why;
  const std::string script = problem(import(this->script().string() + ":make", {"--run-code"}));
  EXPECT_TRUE(has(script, "Permission denied")) << script;
  EXPECT_EQ(ranIn(), "");
  EXPECT_FALSE(fs::exists(m_folder / "user/code.make.pt2"));
  EXPECT_FALSE(json({"inspect", program()})["cannot_run"].empty()) << "it opens as the program that it is";
}

/// By the torch of FUSESCOPE_TORCH_PYTHON.
class RealImportOverSsh : public ImportOverSsh {
 protected:
  void SetUp() override {
    if (std::getenv("FUSESCOPE_TORCH_PYTHON") == nullptr)
      GTEST_SKIP() << "no Python with torch: FUSESCOPE_TORCH_PYTHON is not set";
    ImportOverSsh::SetUp();
  }
  std::string torchThere() const { return m_server->command() + " " + std::getenv("FUSESCOPE_TORCH_PYTHON"); }
};

TEST_F(RealImportOverSsh, ProgramsAndScriptsGiveWhatTheyGiveHere) {
  const Json made = json({"import", program(), "--env", torchThere()});
  EXPECT_EQ(made["is_new"], true);
  EXPECT_EQ(made["tied"], made["node_count"]);
  EXPECT_EQ(json({"run", program(), "--expect", arrays()})["ok"], true);
  fs::copy_file(TORCH_TESTS "/scripts/nets.py", m_folder / "user/nets.py");
  const Json captured =
      json({"import", (m_folder / "user/nets.py:module").string(), "--run-code", "--env", torchThere()});
  EXPECT_EQ(json({"inspect", captured["program"]})["cannot_run"], Json::array());
  EXPECT_TRUE(json({"run", captured["program"]})["example_inputs"]);
}

}  // namespace
}  // namespace fusescope::test
