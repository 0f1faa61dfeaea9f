#include "analysis/structural_key.h"

#include <gtest/gtest.h>

#include "ir/graph.h"

namespace fusescope {
namespace {

std::string keyOfIf(const std::string& captures, const std::string& inputs, const std::string& outputs) {
  const auto parsed = parseGraph(R"(graph "main" {
  input %c: bool[]
  input %a: f32[2]
  input %b: f32[2]
  %y: f32[2], %z: f32[2] = If(%c) <else_branch=body graph "e" {
      const %one: f32[] = [1]
      output %one
      output %one
    }, then_branch=body ()" + captures +
                                 R"() graph "t" {
)" + inputs + R"(
      %d: f32[2] = Sub(%p, %q) {name="sub"}
      %e: f32[2] = Neg(%d) {name="neg"}
)" + outputs + R"(
    }> {name="if"}
  output %y
  output %z
})");
  EXPECT_TRUE(parsed.ok()) << parsed.error().text();
  const Graph& graph = *parsed.value();
  return structuralKey({.graph = &graph,
                        .nodes = graph.order(),
                        .describe = [&](ValueId value) { return graph.value(value).type.text(); },
                        .context = {}});
}

constexpr const char* kCaptures = "%a, %b";
constexpr const char* kInputs = "      input %p: f32[2]\n      input %q: f32[2]";
constexpr const char* kOutputs = "      output %d\n      output %e";

TEST(StructuralKey, OfANodeWithABodySaysWhatTheBodyReadsAndGives) {
  const std::string key = keyOfIf(kCaptures, kInputs, kOutputs);
  EXPECT_EQ(key, keyOfIf(kCaptures, kInputs, kOutputs));
  EXPECT_NE(key, keyOfIf(kCaptures, kInputs, "      output %e\n      output %d")) << "outputs in another order";
  EXPECT_NE(key, keyOfIf(kCaptures, "      input %q: f32[2]\n      input %p: f32[2]", kOutputs)) << "b - a";
  EXPECT_NE(key, keyOfIf("%a, %a", kInputs, kOutputs)) << "a - a";
}

}  // namespace
}  // namespace fusescope
