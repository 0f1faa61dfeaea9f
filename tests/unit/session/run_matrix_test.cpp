// Any number of runs side by side, group of kernels by group.
#include "session/reports/run_matrix.h"
#include "session/open_artifact.h"

#include <gtest/gtest.h>

#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr const char* kMatrixNetwork =
    "g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) { [a_first] a = MatMul (x, w) [a_relu] b = Relu (a) "
    "[b_last] y = Exp (b) }";

/// The network with names as exporters write them: of the modules a and b. ONNX's text has no dots in names.
std::string networkBytes() {
  std::string bytes = onnxBytes(kMatrixNetwork);
  for (const std::string name : {"a_first", "a_relu", "b_last"}) bytes[bytes.find(name) + 1] = '.';
  return bytes;
}

class Matrix : public ::testing::Test {
 protected:
  Artifact planned(const std::vector<std::string>& splits, std::vector<DataType> precisions = {}) const {
    PlanOptions options{.precisions = std::move(precisions)};
    for (const std::string& split : splits) options.directives.push_back(splitDirective(split));
    assignIds(options.directives);
    auto opened = openArtifact(m_model, {}, options);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    return std::move(opened).value();
  }
  /// A run in which every kernel took `ms`.
  static fusescope::Run timed(const Artifact& artifact, const std::string& id, double ms, int threads = 2) {
    fusescope::Run run{.id = id, .name = "run", .options = artifact.plan->options};
    RunTime time{.medianMs = ms, .threads = threads};
    for (const FusedNode& fused : artifact.plan->fusedNodes)
      time.layers.push_back({.name = fused.name, .identity = fused.identity.hex(), .medianMs = ms});
    run.time = SharedOptional<RunTime>(std::move(time));
    return run;
  }

  const TemporaryFolder m_folder;
  const std::string m_model = m_folder.write("model.onnx", networkBytes()).string();
};

TEST_F(Matrix, RowsAreTheSmallestGroupsThatAllRunsHave) {
  const Artifact whole = planned({}), apart = planned({"a.first", "a.relu"});
  ASSERT_LT(whole.plan->fusedNodes.size(), apart.plan->fusedNodes.size());
  const auto a = timed(whole, "1", 4), b = timed(apart, "2", 1), c = timed(whole, "3", 2);
  const std::vector<ReportSide> sides{reportSide(whole, &a), reportSide(apart, &b), reportSide(whole, &c)};
  const RunMatrix matrix = runMatrix(sides);
  ASSERT_EQ(matrix.columns.size(), 3U);
  EXPECT_EQ(matrix.rows.size(), whole.plan->fusedNodes.size());
  std::size_t kernels = 0;
  for (const MatrixRow& row : matrix.rows) {
    EXPECT_EQ(row.cells[0].time.ms, 4 * static_cast<double>(row.cells[0].kernels.size()));
    EXPECT_EQ(row.cells[1].time.ms, static_cast<double>(row.cells[1].kernels.size()));
    EXPECT_EQ(row.cells[2].time.how, "run");
    EXPECT_EQ(row.same, row.cells[1].kernels.size() == 1);
    kernels += row.cells[1].kernels.size();
  }
  EXPECT_EQ(kernels, apart.plan->fusedNodes.size());
}

TEST_F(Matrix, OtherTypesAreNotTheSame) {
  const Artifact f32 = planned({}), f16 = planned({}, {DataType::F16});
  const std::vector<ReportSide> sides{reportSide(f32), reportSide(f16)};
  const RunMatrix matrix = runMatrix(sides);
  EXPECT_FALSE(matrix.rows.front().same);
  EXPECT_EQ(matrix.rows.front().cells[0].types, std::vector<std::string>{"f32"});
  EXPECT_EQ(matrix.rows.front().cells[1].types, std::vector<std::string>{"f16"});
  EXPECT_NE(matrix.rows.front().cells[0].time.how, "run");
}

TEST_F(Matrix, SaysWhichRunsWereNotTimedAlike) {
  const Artifact plan = planned({});
  const auto a = timed(plan, "1", 1), b = timed(plan, "2", 1, 4);
  const std::vector<ReportSide> sides{reportSide(plan, &a), reportSide(plan, &b)};
  const RunMatrix matrix = runMatrix(sides);
  EXPECT_TRUE(matrix.columns[0].unlike.empty());
  EXPECT_EQ(matrix.columns[1].unlike, std::vector<std::string>{"threads: 2 and 4"});
  EXPECT_EQ(toJson(matrix)["columns"][1]["unlike"].size(), 1U);
}

TEST_F(Matrix, BlocksAddUpWhatIsInThem) {
  const Artifact apart = planned({"a.first", "a.relu"});
  const auto run = timed(apart, "1", 1);
  const std::vector<ReportSide> sides{reportSide(apart, &run), reportSide(apart, &run)};
  const RunMatrix rows = runMatrix(sides), blocks = byModule(rows);
  ASSERT_EQ(blocks.rows.size(), 2U);
  EXPECT_EQ(blocks.rows[0].name, "a");
  EXPECT_EQ(blocks.rows[0].cells[1].time.ms, 2.0);
  EXPECT_EQ(blocks.rows[0].nodes.size(), 2U);
  EXPECT_TRUE(blocks.rows[0].same);
}

TEST_F(Matrix, OfNothingIsEmpty) {
  EXPECT_TRUE(runMatrix({}).rows.empty());
}

}  // namespace
}  // namespace fusescope::test
