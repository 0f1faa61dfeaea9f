#include "analysis/cost.h"
#include "ir/graph.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

TEST(Cost, AGatherReadsOfItsTableWhatItWrites) {
  const ValueId table(0), places(1);
  const Node gather{.op = "Gather", .inputs = {table, places}};
  EXPECT_TRUE(readsPart(gather, table));
  EXPECT_FALSE(readsPart(gather, places));
  EXPECT_FALSE(readsPart({.op = "Add", .inputs = {table, places}}, table));
  EXPECT_FALSE(readsPart({.op = "Gather", .domain = "vendor", .inputs = {table, places}}, table));
}

}  // namespace
}  // namespace fusescope
