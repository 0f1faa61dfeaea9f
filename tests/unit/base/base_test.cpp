#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "base/data_type.h"
#include "base/float_bits.h"
#include "base/hash.h"
#include "base/name_hints.h"
#include "base/on_two_threads.h"
#include "base/result.h"
#include "base/text.h"

namespace fusescope {
namespace {

TEST(OnTwoThreads, EachNumberIsCalledOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<std::atomic<int>> calls(count);
    onTwoThreads(count, [&](std::size_t i) { ++calls[i]; });
    EXPECT_TRUE(std::ranges::all_of(calls, [](const auto& each) { return each == 1; })) << count;
  }
}

TEST(FloatBits, EveryFloat16SurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = fromFloat16Bits(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(toFloat16Bits(value), bits) << value;
  }
}

TEST(FloatBits, Float16RoundsToNearestEvenAndOverflowsToInfinity) {
  EXPECT_EQ(roundedTo(DataType::F16, 1.0F + 1.0F / 2048), 1.0F);  // a tie goes to the even neighbour
  EXPECT_EQ(roundedTo(DataType::F16, 1.0F + 3.0F / 2048), 1.0F + 2.0F / 1024);
  EXPECT_EQ(roundedTo(DataType::F16, 65504.0F), 65504.0F);
  EXPECT_EQ(roundedTo(DataType::F16, 65519.0F), 65504.0F);
  EXPECT_TRUE(std::isinf(roundedTo(DataType::F16, 65520.0F)));
  EXPECT_TRUE(std::isinf(roundedTo(DataType::F16, -184000.0F)));
  EXPECT_EQ(roundedTo(DataType::F16, 5.9604645e-8F), 5.9604645e-8F);  // the smallest subnormal
  EXPECT_EQ(roundedTo(DataType::F16, 2.9e-8F), 0.0F);
}

TEST(FloatBits, BFloat16KeepsTheRangeOfFloat32) {
  EXPECT_EQ(roundedTo(DataType::BF16, 184000.0F), 184320.0F);
  EXPECT_EQ(roundedTo(DataType::BF16, 1.00390625F), 1.0F);  // a tie goes to the even neighbour
  EXPECT_TRUE(std::isnan(roundedTo(DataType::BF16, NAN)));
}

TEST(FloatBits, Float8Saturates) {
  EXPECT_EQ(roundedTo(DataType::F8E4M3, 1000.0F), 448.0F);
  EXPECT_EQ(roundedTo(DataType::F8E4M3, 17.0F), 16.0F);
  EXPECT_EQ(roundedTo(DataType::F8E4M3, 19.0F), 20.0F);
  EXPECT_EQ(roundedTo(DataType::F8E5M2, 70000.0F), 57344.0F);
  EXPECT_EQ(roundedTo(DataType::F8E4M3FNUZ, -INFINITY), -240.0F);
}

TEST(DataTypes, NamesRoundTripAndLongSpellingsAreUnderstood) {
  for (int i = 1; i <= static_cast<int>(DataType::C128); ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(dataTypeFromName(name(type)), type);
  }
  EXPECT_EQ(dataTypeFromName("float16"), DataType::F16);
  EXPECT_EQ(dataTypeFromName("undefined"), std::nullopt);
  EXPECT_EQ(byteSize(DataType::I4, 3), 2U);
  EXPECT_EQ(byteSize(DataType::U2, 5), 2U);
  EXPECT_EQ(byteSize(DataType::F6E2M3, 4), 3U);
  EXPECT_EQ(byteSize(DataType::F6E2M3, 5), 4U);
  EXPECT_TRUE(isPacked(DataType::F4E2M1) && !isPacked(DataType::F8E8M0) && !isPacked(DataType::String));
}

TEST(Text, GlobsMatchWholeNames) {
  EXPECT_TRUE(matchesGlob("node_*", "node_linear_1"));
  EXPECT_TRUE(matchesGlob("*linear*1", "node_linear_1"));
  EXPECT_TRUE(matchesGlob("node_?", "node_7"));
  EXPECT_FALSE(matchesGlob("node_?", "node_17"));
  EXPECT_FALSE(matchesGlob("linear", "node_linear"));
}

TEST(Text, NearestNamesComeFirst) {
  const std::vector<std::string> names{"node_relu", "node_linear", "node_linear_1"};
  EXPECT_EQ(nearestNames("node_liner", names, 2), (std::vector<std::string>{"node_linear", "node_linear_1"}));
}

TEST(Text, ANameIsNearByItsLettersOrWhatStandsInIt) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(nearestNames("qqq", {"node_relu", "y"}), Names{});
  EXPECT_EQ(nearestNames("a", {"b"}), Names{}) << "all its letters differ";
  EXPECT_EQ(nearestNames("RELU", {"conv", "node_relu"}), Names{"node_relu"}) << "it stands in the name";
  EXPECT_EQ(nearestNames("node_relu_of_layer", {"relu", "node_relu"}), Names{"node_relu"});
  EXPECT_EQ(nearestNames("MatMl", {"/layers.0/attn/MatMul", "/layers.0/mlp/Add"}), Names{"/layers.0/attn/MatMul"});
  EXPECT_EQ(nearestNames("plna", {"run", "plan"}), Names{"plan"}) << "two letters changed places";
  EXPECT_EQ(nearestNames("", {"a", "b"}), Names{});
}

TEST(NameHints, WhatIsNearIsNamedAndElseHowToFindIt) {
  EXPECT_EQ(nearestInWords("x_in", {"x_inn", "y"}, "None."), "The nearest is x_inn.");
  EXPECT_EQ(nearestInWords("x_in", {"x_i", "x_inn"}, "None."), "The nearest are x_i, x_inn.");
  EXPECT_EQ(nearestInWords("x_in", {"somewhere"}, "None."), "None.");
  EXPECT_EQ(listed({"a", "b"}), "a, b");
  EXPECT_EQ(listed({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}), "1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
}

TEST(Diagnostic, HasOneFullStopBetweenItsSentences) {
  const auto text = [](const char* message) { return Diagnostic{.message = message, .help = "Install it."}.text(); };
  EXPECT_EQ(text("there is none"), "there is none. Install it.");
  EXPECT_EQ(text("There is none."), "There is none. Install it.");
}

TEST(Diagnostic, SaysWhatAnAttributeIs) {
  const auto textOf = [](Location where) {
    return Diagnostic{.message = "is wrong", .where = std::move(where)}.text();
  };
  EXPECT_EQ(textOf({.file = "m.onnx", .attribute = "--ranges"}), "m.onnx: option '--ranges': is wrong");
  EXPECT_EQ(textOf({.node = "n", .attribute = "--workspace"}), "node 'n': option '--workspace': is wrong");
  EXPECT_EQ(textOf({.attribute = "MODEL"}), "argument 'MODEL': is wrong");
  EXPECT_EQ(textOf({.file = "d.json", .attribute = "directives[0].kind"}),
            "d.json: key 'directives[0].kind': is wrong");
  EXPECT_EQ(textOf({.node = "n", .attribute = "axis"}), "node 'n': attribute 'axis': is wrong");
}

TEST(Hash, FieldsDoNotRunIntoEachOther) {
  EXPECT_NE(KeyBuilder().text("ab").text("c").hash(), KeyBuilder().text("a").text("bc").hash());
  EXPECT_EQ(KeyBuilder().text("ab").number(7).hash(), KeyBuilder().text("ab").number(7).hash());
  EXPECT_EQ(hashText("").hex().size(), 32U);
}

}  // namespace
}  // namespace fusescope
