// Code that can be kept is compiled once for all processes that have the store.
#include <gtest/gtest.h>

#include "engine/kernels/kernel_store.h"
#include "tests/backends/backend_fixture.h"
#include "tests/backends/keeping/keeping_backend.h"

namespace fusescope::testing {
namespace {

class MemoryStore final : public ArtifactStore {
 public:
  std::optional<std::string> get(std::string_view key) override {
    const auto found = all.find(std::string(key));
    return found == all.end() ? std::nullopt : std::optional(found->second);
  }
  void put(std::string_view key, std::string_view bytes, double /*madeMs*/) override { all[std::string(key)] = bytes; }
  std::map<std::string, std::string> all;
};

/// Relu, Neg, Relu, each in a kernel of its own; the two of a kind are equal.
std::shared_ptr<const Plan> threePlan() {
  GraphEditor editor;
  ValueId at = editor.addInput("x", f32({2, 8}));
  Directives directives;
  for (const auto& [name, op] : {std::pair("first", "Relu"), std::pair("second", "Neg"), std::pair("third", "Relu")}) {
    const ValueId y = editor.addValue(std::string(name) + "_y", f32({2, 8}));
    editor.addNode({.op = op, .name = name, .inputs = {at}, .outputs = {y}});
    directives.push_back(splitDirective(name));
    at = y;
  }
  editor.addOutput(at);
  directives.pop_back();
  return planOf(modelOf(editor), {.directives = directives});
}

/// What a new process with this store does for an engine of `plan`.
KernelStore::Counts countsOf(const std::shared_ptr<const Plan>& plan, const std::shared_ptr<ArtifactStore>& artifacts) {
  KernelStore kernels(artifacts);
  const auto engine =
      engineOf(plan, {.backend = "keeping", .threads = 1, .measureTactics = false, .kernels = &kernels});
  const std::map<std::string, Tensor> inputs{{"x", noise({2, 8}, 1)}};
  const auto result = engine->run(inputs);
  EXPECT_TRUE(result.ok());
  expectAsReference(plan, result.value(), inputs);
  return kernels.counts();
}

TEST(ArtifactStore, LetsTheSecondEngineCompileNothing) {
  const auto plan = threePlan();
  const auto artifacts = std::make_shared<MemoryStore>();
  const KernelStore::Counts first = countsOf(plan, artifacts);
  EXPECT_EQ(first.compiled, 2) << "a Relu and a Neg";
  EXPECT_EQ(first.restored, 0);
  EXPECT_EQ(artifacts->all.size(), 2U);
  const KernelStore::Counts second = countsOf(plan, artifacts);
  EXPECT_EQ(second.compiled, 0);
  EXPECT_EQ(second.restored, 2);
  EXPECT_EQ(second.sharedCode, first.sharedCode);
  EXPECT_EQ(countsOf(plan, noArtifacts()).compiled, 2);
}

TEST(ArtifactStore, CodeOfAnotherVersionAndDamagedBytesAreCompiledAnew) {
  const auto plan = threePlan();
  const auto artifacts = std::make_shared<MemoryStore>();
  countsOf(plan, artifacts);
  setKeepingVersion("2");
  EXPECT_EQ(countsOf(plan, artifacts).compiled, 2) << "the fingerprint is another";
  EXPECT_EQ(artifacts->all.size(), 4U);
  for (const char* damaged : {"", "no line of JSON\nRelu 16", "{}\nRelu 16",
                              "{\"embedded\": \"\", \"names\": []}\nRelu 16", "{\"embedded\": 5, \"names\": 5}\n"}) {
    for (auto& [key, bytes] : artifacts->all) bytes = damaged;
    EXPECT_EQ(countsOf(plan, artifacts).compiled, 2) << damaged;
  }
  EXPECT_EQ(countsOf(plan, artifacts).restored, 2) << "and what was compiled is kept";
  setKeepingVersion("1");
}

}  // namespace
}  // namespace fusescope::testing
