// In what two engines differ that are timed together, and what is said of it beside the ranking.
#include <gtest/gtest.h>

#include "base/json.h"
#include "session/compare_differences.h"
#include "session/runs/run_comparison.h"
#include "tests/unit/diff/made_blocks.h"

namespace fusescope::test {
namespace {

using Kind = ComparedDifferenceKind;
using Differences = std::vector<ComparedDifference>;

TEST(CompareDifferences, OfOneCompilerAreVersionOptionsAndThreads) {
  const auto asked = askedOf();
  const auto a = madeAlike(asked);
  EXPECT_TRUE(comparedDifferences(*a, *a, 2, 2).empty());
  EXPECT_EQ(comparedDifferences(*a, *a, 2, 4), (Differences{{Kind::Threads, "2", "4"}}));
  ReadBackPlan b = *madeAlike(asked);
  b.compiler.version = "1.19.0";
  b.compiler.options = {{"level", "basic"}};
  const Differences differences = comparedDifferences(*a, b, 2, 2);
  EXPECT_EQ(differences, (Differences{{Kind::Version, "1.18.0", "1.19.0"}, {Kind::Options, "", "level=basic"}}));
  EXPECT_EQ(differencesText(differences), "what differs: version: A 1.18.0, B 1.19.0; options: A none, B level=basic");
  EXPECT_EQ(typesClause(differences), "");
  EXPECT_EQ(differencesText({}), "");
}

TEST(CompareDifferences, OfTwoCompilersAreTheCompilersAndTheTypes) {
  const auto asked = askedOf();
  const auto b = madeAlike(asked, DataType::BF16);
  const Differences differences = comparedDifferences(*ours(), *b, 1, 1);
  EXPECT_EQ(differences, (Differences{{Kind::Compiler, "fusescope", "onnxruntime"}, {Kind::Types, "f32", "bf16"}}));
  EXPECT_EQ(typesClause(differences), ", but A calculates in f32 and B in bf16");
  const auto silent = madeAlike(asked, DataType::Undefined);
  EXPECT_EQ(typesClause(comparedDifferences(*b, *silent, 1, 1)),
            ", but A calculates in bf16 and B in types that are not disclosed");
}

/// A comparison or an index has the same type by every compiler: one that shows fewer such kernels does not calculate
/// in other types.
TEST(CompareDifferences, TruthsAndIndexesAreNoOtherTypesButCodesAre) {
  const auto asked = askedOf();
  const auto b = madeAlike(asked);
  for (const auto& [type, clause] : {std::pair(DataType::Bool, ""), std::pair(DataType::I64, ""),
                                     std::pair(DataType::I8, ", but A calculates in f32 and int8 and B in f32")}) {
    ReadBackPlan a = *madeAlike(asked);
    a.calculates.push_back(type);
    EXPECT_EQ(typesClause(comparedDifferences(a, *b, 1, 1)), clause) << name(type);
  }
}

TEST(CompareDifferences, AreInTheDocumentAndInSessions) {
  CompareReport report;
  report.differences = {{Kind::Compiler, "onnxruntime", "openvino"}, {Kind::Types, "f32", ""}};
  report.notRanked = "A runs on 1 thread, B on 2 threads";
  const Json json = toJson(report);
  EXPECT_EQ(json["differences"], Json::array({{{"kind", "compiler"}, {"a", "onnxruntime"}, {"b", "openvino"}},
                                              {{"kind", "types"}, {"a", "f32"}, {"b", nullptr}}}));
  const auto read = runComparisonFromJson(json);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().differences, report.differences);
  EXPECT_EQ(read.value().notRanked, report.notRanked);
  EXPECT_FALSE(comparedDifferenceFromJson(Json{{"kind", "weather"}}).ok());
}

}  // namespace
}  // namespace fusescope::test
