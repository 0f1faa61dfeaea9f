// Networks that went through ONNX Runtime's optimisers or quantisers open, are planned, and run like the plain ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/json.h"
#include "tests/support/process.h"

namespace fusescope::test {
namespace {

struct Case {
  std::string model, values, tolerance;
  std::vector<std::string> extents;  ///< --input NAME=DIMS …
};

Case caseOf(const std::filesystem::path& folder, const Json& json) {
  Case one{(folder / json.at("model").get<std::string>()).string(),
           (folder / json.at("values").get<std::string>()).string(),
           json.at("tolerance").dump(),
           {}};
  for (const auto& [name, dims] : json.at("extents").items()) {
    std::string text;
    for (const Json& dim : dims) text += (text.empty() ? "" : ",") + dim.dump();
    if (!text.empty()) one.extents.insert(one.extents.end(), {"--input", name + "=" + text});
  }
  return one;
}

std::vector<Case> casesIn(const std::filesystem::path& folder) {
  std::ifstream in(folder / "cases.json");
  std::vector<Case> cases;
  for (const Json& json : Json::parse(in)) cases.push_back(caseOf(folder, json));
  return cases;
}

ProcessResult command(std::vector<std::string> arguments, const Case& one) {
  arguments.insert(arguments.end(), one.extents.begin(), one.extents.end());
  return fusescopeCommand(std::move(arguments));
}

void expectPlanned(const Case& one) {
  const ProcessResult done = command({"plan", one.model, "--json"}, one);
  ASSERT_EQ(done.status, 0) << one.model << "\n" << done.err;
  EXPECT_FALSE(Json::parse(done.out).at("fused_nodes").empty()) << one.model;
}

void expectEqual(const Case& one) {
  const ProcessResult done = command(
      {"run", one.model, "--inputs", one.values, "--expect", one.values, "--tol-rms", one.tolerance, "--json"}, one);
  EXPECT_EQ(done.status, 0) << one.model << "\n" << done.err << done.out;
}

TEST(OptimisedNetworks, RunLikeThePlainOnes) {
  const char* folder = std::getenv("FUSESCOPE_OPTIMISED");
  if (folder == nullptr || !std::filesystem::exists(std::filesystem::path(folder) / "cases.json"))
    GTEST_SKIP() << "no optimised networks: scripts/test makes them with the Python package onnxruntime and sets "
                    "FUSESCOPE_OPTIMISED to their folder";
  const std::vector<Case> cases = casesIn(folder);
  ASSERT_FALSE(cases.empty());
  for (const Case& one : cases) {
    expectPlanned(one);
    expectEqual(one);
  }
  std::printf("suite: optimised networks: %zu\n", cases.size());
}

}  // namespace
}  // namespace fusescope::test
