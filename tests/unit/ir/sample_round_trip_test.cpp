#include <gtest/gtest.h>

#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

TEST(GraphText, EverySampleRoundTrips) {
  int graphs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(samplesFolder())) {
    const auto imported = importModel(entry.path() / "model.onnx");
    ASSERT_TRUE(imported.ok()) << imported.error().text();
    const auto prepared = prepareModel(imported.value());
    ASSERT_TRUE(prepared.ok()) << prepared.error().text();
    for (const Model* model : {&imported.value(), &prepared.value()}) {
      const std::string text = printGraph(*model->graph);
      const auto parsed = parseGraph(text);
      ASSERT_TRUE(parsed.ok()) << entry.path() << ": " << parsed.error().text();
      EXPECT_EQ(printGraph(*parsed.value()), text) << entry.path();
      EXPECT_EQ(parsed.value()->nodeCount(), model->graph->nodeCount());
      ++graphs;
    }
  }
  EXPECT_EQ(graphs, 14);
}

}  // namespace
}  // namespace fusescope::test
