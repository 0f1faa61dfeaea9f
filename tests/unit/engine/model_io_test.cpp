#include "engine/description/model_io.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/unit/passes/prepared_model.h"

namespace fusescope::test {
namespace {

/// Without weights.
std::shared_ptr<const Model> readBack(const Json& json, int version) {
  auto model = modelFromJson(json, WeightBlobReader(nullptr, {}), version);
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.value();
}

TEST(ModelIo, HowNodesOfTheFileWereReadComesBackAlsoFromOlderFiles) {
  const Model model = prepared(
      "g (float[2,3] x, float[3,4] y) => (float[2,4] z) { [product] p = Einsum <equation = \"Ij,jk->Ik\"> (x, y)"
      " z = Relu (p) }");
  ASSERT_EQ(model.origins[0].equation, "Ij,jk->Ik") << "normalisation made a product of it";
  Model read = model;
  read.origins[1].plainForm = "Max";
  read.decisions.push_back(
      decide("import.plain_form", {Subject::node(read.origins[1].name)}, "import", {{"op", "Relu"}, {"form", "Max"}}));
  WeightBlobWriter weights;
  const Json json = modelToJson(read, weights);
  Json older = json;
  for (Json& origin : older["origins"])
    while (origin.size() > 3) origin.erase(origin.size() - 1);
  for (const auto& back : {readBack(json, 5), readBack(older, 4)}) {
    ASSERT_EQ(back->origins.size(), read.origins.size());
    for (std::size_t i = 0; i < read.origins.size(); ++i) {
      EXPECT_EQ(back->origins[i].name, read.origins[i].name);
      EXPECT_EQ(back->origins[i].equation, read.origins[i].equation);
      EXPECT_EQ(back->origins[i].plainForm, read.origins[i].plainForm);
    }
  }
}

}  // namespace
}  // namespace fusescope::test
