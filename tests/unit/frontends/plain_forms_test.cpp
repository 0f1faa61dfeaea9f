// The plain forms of ONNX Runtime's own operators against what ONNX Runtime calculates: plain_forms.json, which
// plain_forms.py wrote.
#include "passes/pipelines.h"
#include "tests/unit/frontends/runtime_cases.h"

namespace fusescope::test {
namespace {

constexpr std::size_t kCases = 94;

void runCase(const Json& item, const std::string& text, const std::string& what) {
  const auto model = importedCase(text);
  ASSERT_TRUE(model.ok()) << what << ": " << model.error().text();
  EXPECT_EQ(countCode(model.value(), "import.plain_form"), 1U) << what;
  for (const NodeId id : model.value().graph->order()) {
    const Node& node = model.value().graph->node(id);
    EXPECT_TRUE(node.domain.empty()) << what << ": " << node.op;
    EXPECT_EQ(node.origins, std::vector{OriginId(0)}) << what;
  }
  expectCaseRuns(item, model.value(), what);
}

TEST(PlainForms, CalculateWhatOnnxRuntimeDoes) {
  const Json cases = runtimeCases("plain_forms.json");
  EXPECT_EQ(cases.size(), kCases);
  for (const Json& item : cases) {
    const std::string name = item.at("name");
    std::size_t form = 0;
    for (const Json& text : item.at("models")) runCase(item, text, name + (form++ == 0 ? "" : " with open extents"));
  }
}

}  // namespace
}  // namespace fusescope::test
