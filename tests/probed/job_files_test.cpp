// Jobs for machines that cannot be reached, from `probe pack` over a process of its own to `probe open`: by tally, and
// by the compilers that people use where they are here.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/zip_archive.h"
#include "tests/probed/tally_fixture.h"

namespace fusescope::test {
namespace {

class JobOf : public Tally {
 protected:
  std::string job() const { return file("job.pyz"); }
  std::string result() const { return file("result.zip"); }

  ProcessResult pack(const std::string& model, const std::vector<std::string>& more = {},
                     const std::string& compiler = "tally") const {
    std::vector<std::string> arguments{"probe", "pack", model, "--compiler", compiler, "-o", job()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return command(arguments);
  }
  /// Runs the job as on another machine: with nothing of this process's environment but what is said.
  ProcessResult run(const std::string& fault = {}, const std::string& program = "python3") const {
    return runProcess(withoutEnvironment(fault, program));
  }
  std::vector<std::string> withoutEnvironment(const std::string& fault, const std::string& program) const {
    return {"/usr/bin/env",
            "-i",
            path(),
            "PYTHONDONTWRITEBYTECODE=1",
            "TMPDIR=" + m_temporary.path().string(),
            "PYTHONPATH=" FUSESCOPE_SOURCE_DIR "/tests/probed/python",
            "FUSESCOPE_TEST_TALLY=" + fault,
            program,
            job()};
  }
  static std::string path() { return std::string("PATH=") + std::getenv("PATH"); }
  ProcessResult open(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"probe", "open", result()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return command(arguments);
  }
  /// The error of opening, which must end with status 2.
  std::string problem(const std::vector<std::string>& more = {}) const {
    const ProcessResult opened = open(more);
    EXPECT_EQ(opened.status, 2) << opened.out << opened.err;
    return opened.err;
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
};

TEST_F(JobOf, AResultIsWhatALiveProbeGives) {
  const std::string model = network();
  const ProcessResult packed = pack(model, {"--do", "plan,run,time,profile", "--seconds", "0.1", "--json"});
  ASSERT_EQ(packed.status, 0) << packed.err;
  EXPECT_EQ(Json::parse(packed.out)["do"], (Json{"plan", "run", "time", "profile"}));
  const ProcessResult ran = run();
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json opened = json({"probe", "open", result()});
  const Json live = json({"plan", model, "--compiler", "tally"});
  EXPECT_EQ(opened["plan"]["kernels"], live["kernels"]);
  EXPECT_EQ(opened["plan"]["nodes"], live["nodes"]);
  EXPECT_EQ(opened["plan"]["compiler"]["version"], "1.5");
  EXPECT_LT(opened["errors"]["outputs"][0]["max_over_rms"].get<double>(), 1e-6);
  EXPECT_GT(opened["time"]["median_ms"].get<double>(), 0);
  EXPECT_EQ(opened["time"]["layers"][0]["layers"][0]["median_ms"], 0.25);
  EXPECT_TRUE(has(opened["time"]["remark"], "in the job that ended 20")) << opened["time"]["remark"];
  EXPECT_EQ(opened["failed"], Json::array());
  EXPECT_EQ(opened["result"]["compiler"], "tally");
  EXPECT_FALSE(opened["result"]["machine"].get<std::string>().empty());
  const ProcessResult forPeople = open();
  EXPECT_EQ(forPeople.status, 0);
  EXPECT_TRUE(has(forPeople.out, "tally_0")) << forPeople.out;
  EXPECT_TRUE(has(forPeople.out, "the job ended 20")) << forPeople.out;
}

TEST_F(JobOf, EveryVerbTakesAResultAsACompiler) {
  const std::string model = network();
  ASSERT_EQ(pack(model, {"--do", "run,time", "--seconds", "0.1"}).status, 0);
  ASSERT_EQ(run().status, 0);
  ::unsetenv("FUSESCOPE_PYTHON");  // nothing is started
  const std::string compiler = "tally@" + result();
  expectSameNumbers(model, {}, compiler);
  EXPECT_EQ(json({"plan", model, "--compiler", compiler})["kernels"].size(), 3U);
  EXPECT_GT(json({"time", model, "--compiler", compiler})["median_ms"].get<double>(), 0);
  const Json compared = json({"compare", model, model, "--plan-b", "--compiler " + compiler, "--seconds", "0.2"});
  EXPECT_TRUE(has(compared["not_ranked"].get<std::string>(), "was not measured here")) << compared["not_ranked"];
  const ProcessResult profile = command({"time", model, "--compiler", compiler, "--per-layer"});
  EXPECT_EQ(profile.status, 2);
  EXPECT_TRUE(has(profile.err, "The job does not contain the question \"profile\"")) << profile.err;
}

TEST_F(JobOf, OtherInputsOptionsAndNetworksAreRefused) {
  const std::string model = network();
  ASSERT_EQ(pack(model, {"--do", "run"}).status, 0);
  ASSERT_EQ(run().status, 0);
  const std::string compiler = "tally@" + result();
  const ProcessResult options = command({"plan", model, "--compiler", compiler, "--compiler-option", "hands=one"});
  EXPECT_EQ(options.status, 2);
  EXPECT_TRUE(has(options.err, "with these options")) << options.err;
  const ProcessResult pinned = command({"plan", model, "--compiler", compiler, "--precision", "f16"});
  EXPECT_EQ(pinned.status, 2);
  EXPECT_TRUE(has(pinned.err, "another network or other inputs")) << pinned.err;
  network(kWithExp);  // in the place of the other
  EXPECT_TRUE(has(problem(), "is not the network from which the job of result.zip was packed")) << problem();
  std::filesystem::remove(model);
  EXPECT_TRUE(has(problem(), "does not exist")) << problem();
  const auto bytes = onnxlib::onnxTextToBytes(kNetwork);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(open({m_folder.write("moved.onnx", bytes.value()).string()}).status, 0);
}

TEST_F(JobOf, WhatIsRefusedThereSaysHowToPackAgain) {
  const std::string model = network(kWithExp);
  ASSERT_EQ(pack(model).status, 0);
  ASSERT_EQ(run().status, 0);
  EXPECT_TRUE(has(problem(), "--fallback 'grow'")) << problem();
  ASSERT_EQ(pack(model, {"--fallback", "grow"}).status, 0);
  ASSERT_EQ(run().status, 0);
  const Json opened = json({"probe", "open", result()});
  EXPECT_EQ(entryOf(opened["plan"]["nodes"], "node", "grow")["fate"], "fallback");
  EXPECT_EQ(entryOf(opened["plan"]["nodes"], "node", "last")["fate"], "kernel");
  const ProcessResult several = pack(model, {"--fallback", "grow", "--do", "run"});
  EXPECT_EQ(several.status, 2);
  EXPECT_TRUE(has(several.err, "3 segments")) << several.err;
}

TEST_F(JobOf, ACompilerThatFailsOrDiesThereSaysSo) {
  ASSERT_EQ(pack(network(), {"--do", "run"}).status, 0);
  ASSERT_EQ(run("fails Neg").status, 0);
  EXPECT_TRUE(has(problem(), "not enough fingers")) << problem();
  EXPECT_TRUE(has(problem(), "--fallback 'turn'")) << problem();
  ASSERT_EQ(run("dies Mul").status, 0);
  EXPECT_TRUE(has(problem(), "ended with status 7")) << problem();
  const ProcessResult missing = runProcess({"/usr/bin/env", "-i", path(), "TMPDIR=" + m_temporary.path().string(),
                                            "PYTHONDONTWRITEBYTECODE=1", "python3", job()});
  ASSERT_EQ(missing.status, 0) << missing.err;
  EXPECT_TRUE(has(problem(), "knows no compiler \"tally\"")) << problem();
}

TEST_F(JobOf, AJobThatIsToldToEndKeepsWhatWasAnswered) {
  ASSERT_EQ(pack(network(), {"--do", "run"}).status, 0);
  std::vector<std::string> slow = withoutEnvironment("slow run", "python3");
  slow.insert(slow.begin(), {"/usr/bin/timeout", "-s", "TERM", "2"});
  EXPECT_EQ(runProcess(slow).status, 124);
  const ProcessResult opened = open({"--json"});
  EXPECT_EQ(opened.status, 1) << opened.err;
  const Json json = Json::parse(opened.out);
  EXPECT_EQ(json["plan"]["kernels"].size(), 3U);
  EXPECT_EQ(json["errors"], Json());
  EXPECT_EQ(json["failed"][0]["do"], "run");
  EXPECT_TRUE(has(json["failed"][0]["message"], "told to end")) << json["failed"];
}

TEST_F(JobOf, AJobThatIsKilledLeavesNoResult) {
  ASSERT_EQ(pack(network(), {"--do", "run"}).status, 0);
  std::vector<std::string> slow = withoutEnvironment("slow run", "python3");
  slow.insert(slow.begin(), {"/usr/bin/timeout", "-s", "KILL", "2"});
  EXPECT_NE(runProcess(slow).status, 0);
  EXPECT_FALSE(std::filesystem::exists(result()));
  EXPECT_TRUE(has(problem(), "there is no such file")) << problem();
  std::filesystem::rename(result() + ".part", result());
  EXPECT_FALSE(problem().empty());
  // What was started there ends, and what it wrote for itself goes.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!std::filesystem::is_empty(m_temporary.path()) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(std::filesystem::is_empty(m_temporary.path()));
}

TEST_F(JobOf, AResultIsNotTrusted) {
  ASSERT_EQ(pack(network()).status, 0);
  ASSERT_EQ(run().status, 0);
  const auto whole = readTextFile(result());
  ASSERT_TRUE(whole.ok());
  const auto write = [&](const std::string& text) { std::ofstream(result(), std::ios::binary) << text; };
  write(whole.value().substr(0, whole.value().size() / 2));
  EXPECT_FALSE(problem().empty());
  write("{}");
  EXPECT_FALSE(problem().empty());
  write(whole.value());
  EXPECT_EQ(open().status, 0);
  // An archive that is larger unpacked than the file is no result: a bomb.
  const ProcessResult bomb = runProcess(
      {"/usr/bin/env", "python3", "-c",
       "import sys, zipfile\n"
       "old = zipfile.ZipFile(sys.argv[1]); entries = {n: old.read(n) for n in old.namelist()}; old.close()\n"
       "new = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)\n"
       "for n in entries: new.writestr(n, entries[n])\n"
       "new.writestr('files/9/zeros', bytes(50 << 20)); new.close()",
       result()});
  ASSERT_EQ(bomb.status, 0) << bomb.err;
  EXPECT_TRUE(has(problem(), "contains more than that when it is unpacked")) << problem();
}

TEST_F(JobOf, BadUseIsToldBeforeAnythingIsWritten) {
  const ProcessResult unknown = pack(network(), {"--do", "plan,tim"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(has(unknown.err, "The nearest is time")) << unknown.err;
  const ProcessResult placed = pack(network(), {}, "tally@somewhere");
  EXPECT_EQ(placed.status, 2);
  EXPECT_TRUE(has(placed.err, "a job is for another machine")) << placed.err;
  const ProcessResult ours = pack(network(), {}, "fusescope");
  EXPECT_EQ(ours.status, 2);
  EXPECT_TRUE(has(ours.err, "no probe reaches")) << ours.err;
  const ProcessResult limit = pack(network(), {"--workspace", "1000"});
  EXPECT_EQ(limit.status, 2);
  EXPECT_TRUE(has(limit.err, "Tally has no limit of the scratch memory")) << limit.err;
  EXPECT_FALSE(std::filesystem::exists(job()));
}

/// With the compilers that people use: pack, run with an empty environment, open.
class RealJobOf : public JobOf, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const char* python = std::getenv("FUSESCOPE_COMPILERS_PYTHON");
    if (python == nullptr)
      GTEST_SKIP() << "no Python with ONNX Runtime and OpenVINO: FUSESCOPE_COMPILERS_PYTHON is not set";
    m_python = python;
  }
  std::string m_python;
};

TEST_P(RealJobOf, AResultIsWhatALiveProbeGives) {
  const std::string model = (sampleFolder("bert_tiny") / "model.onnx").string();
  const std::string io = sampleInputs("bert_tiny");
  const ProcessResult packed =
      pack(model, {"--do", "plan,run,time,profile", "--inputs", io, "--seconds", "0.2", "--threads", "1"}, GetParam());
  ASSERT_EQ(packed.status, 0) << packed.err;
  const ProcessResult ran = run({}, m_python);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json opened = json({"probe", "open", result()});
  EXPECT_GT(opened["plan"]["kernels"].size(), 20U);
  EXPECT_LT(opened["errors"]["outputs"][0]["max_over_rms"].get<double>(), 1e-4);
  EXPECT_GT(opened["time"]["median_ms"].get<double>(), 0);
  EXPECT_EQ(opened["time"]["threads"], 1);
  EXPECT_EQ(opened["failed"], Json::array());
  ::setenv("FUSESCOPE_PYTHON", m_python.c_str(), 1);
  const Json live = json({"plan", model, "--compiler", GetParam()});
  EXPECT_EQ(opened["plan"]["kernels"].size(), live["kernels"].size());
}

INSTANTIATE_TEST_SUITE_P(Compilers, RealJobOf, ::testing::Values("onnxruntime", "openvino"),
                         [](const auto& each) { return std::string(each.param); });

TEST_F(JobOf, TensorrtRtxCompilesInAJobAndCannotRunThere) {
  const char* python = std::getenv("FUSESCOPE_TENSORRT_RTX_PYTHON");
  if (python == nullptr || std::getenv("FUSESCOPE_TEST_TENSORRT_RTX") == nullptr)
    GTEST_SKIP() << "no Python with TensorRT for RTX: FUSESCOPE_TENSORRT_RTX_PYTHON is not set";
  const std::string model = (sampleFolder("bert_tiny") / "model.onnx").string();
  const ProcessResult packed = pack(model, {"--do", "plan,run", "--sm", "86"}, "tensorrt-rtx");
  ASSERT_EQ(packed.status, 0) << packed.err;
  const ProcessResult ran = run({}, python);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const ProcessResult opened = open({"--json"});
  const Json json = Json::parse(opened.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << opened.err;
  EXPECT_GT(json["plan"]["kernels"].size(), 10U);
  EXPECT_EQ(json["plan"]["compiler"]["options"]["sm"], "86");
  if (opened.status == 0) GTEST_SKIP() << "this machine has a card: running is no failure";
  EXPECT_EQ(json["failed"][0]["do"], "run");
}

}  // namespace
}  // namespace fusescope::test
