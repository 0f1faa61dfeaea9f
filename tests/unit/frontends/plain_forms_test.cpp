// ONNX Runtime's own operators against what ONNX Runtime calculates: those that have a plain form, plain_forms.json,
// and those that are operators here too, own_operators.json. The scripts of the same names wrote them.
#include "passes/pipelines.h"
#include "tests/unit/frontends/runtime_cases.h"

namespace fusescope::test {
namespace {

constexpr std::size_t kPlainForms = 91, kOwnOperators = 12;

/// What a case's operator becomes.
enum class Becomes { PlainForm, Itself };

void runCase(const Json& item, const std::string& text, Becomes form, const std::string& what) {
  const auto model = importedCase(text);
  ASSERT_TRUE(model.ok()) << what << ": " << model.error().text();
  EXPECT_EQ(countCode(model.value(), "import.plain_form"), form == Becomes::PlainForm ? 1U : 0U) << what;
  for (const NodeId id : model.value().graph->order()) {
    const Node& node = model.value().graph->node(id);
    EXPECT_EQ(node.domain.empty(), form == Becomes::PlainForm) << what << ": " << node.op;
    EXPECT_EQ(node.origins, std::vector{OriginId(0)}) << what;
  }
  expectCaseRuns(item, model.value(), what);
}

void runAll(const Json& cases, Becomes becomes) {
  for (const Json& item : cases) {
    const std::string name = item.at("name");
    std::size_t form = 0;
    for (const Json& text : item.at("models"))
      runCase(item, text, becomes, name + (form++ == 0 ? "" : " with open extents"));
  }
}

TEST(PlainForms, CalculateWhatOnnxRuntimeDoes) {
  const Json cases = runtimeCases("plain_forms.json");
  EXPECT_EQ(cases.size(), kPlainForms);
  runAll(cases, Becomes::PlainForm);
}

TEST(OwnOperators, CalculateWhatOnnxRuntimeDoes) {
  const Json cases = runtimeCases("own_operators.json");
  EXPECT_EQ(cases.size(), kOwnOperators);
  runAll(cases, Becomes::Itself);
}

}  // namespace
}  // namespace fusescope::test
