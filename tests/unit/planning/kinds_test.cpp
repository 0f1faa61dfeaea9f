// The list of kinds, what single nodes are, and the families by which the window colours kinds.
#include "planning/kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "ops/op_schema.h"

namespace fusescope {
namespace {

TEST(Kinds, AreListedOnceAndHaveAFamilyThatIsAKind) {
  const std::vector<std::string_view> listed = allKinds();
  const std::set<std::string_view> kinds(listed.begin(), listed.end());
  EXPECT_EQ(kinds.size(), listed.size());
  for (const std::string_view kind : listed) {
    const std::string_view family = kindFamily(kind);
    EXPECT_TRUE(family == "other" || kinds.contains(family)) << kind << " is in the family " << family;
    EXPECT_EQ(kindFamily(family), family) << "a family is in itself";
  }
  EXPECT_EQ(kindFamily("gemm"), "matmul");
}

TEST(Kinds, OfOtherCompilersHaveAFamilyOnlyIfTheyAreKnown) {
  EXPECT_EQ(kindFamily("linear"), "matmul");
  EXPECT_EQ(kindFamily("copy"), "view");
  EXPECT_EQ(kindFamily("triton_poi"), "other");
  for (const char* gone : {"conv_transpose", "reduction", "pooling", "global_pool", "unary", "binary", "elementwise"})
    EXPECT_EQ(kindFamily(gone), "other") << gone;
}

TEST(Kinds, EverySingleNodeHasAListedOne) {
  const std::vector<std::string_view> listed = allKinds();
  for (const char* op : {"Conv", "Gemm", "Relu", "Split", "Tile", "LSTM", "If", "Loop", "Shape", "TopK", "AveragePool",
                         "ReduceSum", "QuantizeLinear", "RandomNormal", "Reshape", "NoSuchOperator"}) {
    Node node;
    node.op = op;
    EXPECT_NE(std::ranges::find(listed, kindOfSingle(node)), listed.end()) << op;
  }
}

}  // namespace
}  // namespace fusescope
