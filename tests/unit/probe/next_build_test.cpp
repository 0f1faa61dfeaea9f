// OpenVINO's part of the probe, with a package in OpenVINO's place that writes down what is called: what is compiled
// when it is asked what it supports, and not compiled again.
#include <fmt/format.h>

#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

constexpr const char* kOpenVino = R"(
import os

def note(what):
    with open(os.environ["FUSESCOPE_TEST_CALLS"], "a") as file:
        file.write(what + " ")

class Type:
    def get_type_name(self):
        return "f32"

class Model:
    def get_ordered_ops(self):
        return []

class Compiled:
    def get_property(self, name):
        return Type() if name == "INFERENCE_PRECISION_HINT" else 1
    def get_runtime_model(self):
        return None

class Core:
    available_devices = []
    def read_model(self, path):
        note("read")
        return Model()
    def query_model(self, model, device):
        note("query")
        return {}
    def compile_model(self, model, device, options):
        note(f"compile{options.get('INFERENCE_NUM_THREADS', 0)}")
        if os.path.exists(os.environ["FUSESCOPE_TEST_CALLS"] + ".fails"):
            raise RuntimeError("it does not compile")
        return Compiled()

def serialize(model, xml, weights):
    open(xml, "w").close()

def get_version():
    return "1-fake"
)";

class NextBuild : public ProbeTest {
 protected:
  void SetUp() override {
    ProbeTest::SetUp();
    const std::string folder = (m_folder / "python").string();
    std::filesystem::create_directory(folder);
    file("python/openvino.py", kOpenVino);
    m_network = file("network.onnx", "a network");
    m_job = started(confirmed(fmt::format("env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={} FUSESCOPE_TEST_CALLS={} python3",
                                          folder, calls())),
                    "openvino");
    ASSERT_NE(m_job, nullptr);
  }
  void TearDown() override {
    m_job.reset();
    ProbeTest::TearDown();
  }

  std::string calls() const { return (m_folder / "calls").string(); }
  /// What OpenVINO was called for by a request.
  std::string called(const Json& request) {
    std::filesystem::remove(calls());
    const auto answer = m_job->ask({.json = request, .files = {{"network.onnx", m_network}}}, {}, {});
    m_isRefused = !answer.ok();
    return textOfFile(calls());
  }
  static Json support(int nextThreads) {
    Json request{{"op", "support"}, {"options", {{"hint", "f32"}}}};
    if (nextThreads > 0) request["next_threads"] = nextThreads;
    return request;
  }
  static Json compile(int threads, const char* hint = "f32") {
    return {{"op", "compile"}, {"options", {{"hint", hint}, {"threads", threads}}}};
  }

  std::filesystem::path m_network;
  std::unique_ptr<ProbeJob> m_job;
  bool m_isRefused = false;
};

TEST_F(NextBuild, WhatIsCompiledNextIsCompiledWhenItIsAskedAbout) {
  EXPECT_EQ(called(support(3)), "read compile3 ") << "what compiles is supported";
  EXPECT_EQ(called(compile(3)), "") << "it was compiled already";
  EXPECT_EQ(called(compile(3)), "read compile3 ") << "that was of one build";
}

TEST_F(NextBuild, WithoutABuildItIsOnlyAsked) {
  EXPECT_EQ(called(support(0)), "read query ");
  EXPECT_EQ(called(compile(3)), "compile3 ") << "it was read already";
}

TEST_F(NextBuild, ABuildThatIsAnotherIsCompiled) {
  EXPECT_EQ(called(support(3)), "read compile3 ");
  EXPECT_EQ(called(compile(2)), "compile2 ");
  EXPECT_EQ(called(support(3)), "read compile3 ");
  EXPECT_EQ(called(compile(3, "bf16")), "compile3 ") << "with other options";
  EXPECT_EQ(called(support(3)), "read compile3 ");
  m_network = file("other.onnx", "another network");
  EXPECT_EQ(called(compile(3)), "read compile3 ") << "of another network";
}

TEST_F(NextBuild, WhatDoesNotCompileIsAskedAbout) {
  file("calls.fails", "");
  EXPECT_EQ(called(support(3)), "read compile3 query ");
  EXPECT_FALSE(m_isRefused);
  std::filesystem::remove(calls() + ".fails");
  EXPECT_EQ(called(compile(3)), "read compile3 ") << "nothing of it is taken for compiled";
  EXPECT_FALSE(m_isRefused);
}

}  // namespace
