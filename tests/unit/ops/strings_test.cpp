#include "ops/run_node.h"
#include "tests/unit/ops/body_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;
using Texts = std::vector<std::string>;

void expectTexts(const Result<std::vector<Tensor>>& result, const Dims& dims, const Texts& expected) {
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result.value()[0].dims(), dims);
  EXPECT_EQ(result.value()[0].strings(), expected);
}

TEST(Strings, AreJoinedWithBroadcasting) {
  expectTexts(run("StringConcat", {texts({2, 1}, {"a", "b"}), texts({2}, {"x", "é"})}), {2, 2},
              {"ax", "aé", "bx", "bé"});
  EXPECT_EQ(inferred("StringConcat", {"string[n, 1]", "string[3]"}), "string[n, 3]");
  EXPECT_EQ(errorOf(run("StringConcat", {texts({1}, {"a"}), floats({1}, {1})})),
            "node 'n': input 1 of StringConcat is f32, expected one of string");
}

TEST(Strings, AreSplitAtADelimiter) {
  const Attributes comma{{"delimiter", std::string(",")}};
  const auto parts = run("StringSplit", {texts({3}, {"a,b", "c", ",d,"})}, comma, 2);
  expectTexts(parts, {3, 3}, {"a", "b", "", "c", "", "", "", "d", ""});
  expectInts(parts, {3}, {2, 1, 3}, 1);
  const Attributes once{{"delimiter", std::string(",")}, {"maxsplit", Int{1}}};
  expectTexts(run("StringSplit", {texts({1}, {"a,b,c"})}, once, 2), {1, 2}, {"a", "b,c"});
}

TEST(Strings, AreSplitAtRunsOfSpace) {
  const auto parts = run("StringSplit", {texts({2}, {"  a  b\tc ", ""})}, {}, 2);
  expectTexts(parts, {2, 3}, {"a", "b", "c", "", "", ""});
  expectInts(parts, {2}, {3, 0}, 1);
  expectTexts(run("StringSplit", {texts({1}, {" a  b c"})}, {{"maxsplit", Int{1}}}, 2), {1, 2}, {"a", "b c"});
  expectTexts(run("StringSplit", {texts({0}, {})}, {}, 2), {0, 0}, {});
}

TEST(Strings, MatchARegularExpressionAsAWhole) {
  const auto pattern = [](const char* text) { return Attributes{{"pattern", std::string(text)}}; };
  const auto result = run("RegexFullMatch", {texts({3}, {"a1", "a12", "xa1"})}, pattern("a\\d"));
  expectInts(result, {3}, {1, 0, 0});
  EXPECT_EQ(errorOf(run("RegexFullMatch", {texts({1}, {"a"})}, pattern("("))),
            "node 'n': attribute 'pattern': is not a regular expression of RE2: missing ): ( at character 1");
}

TEST(Strings, AreNormalized) {
  const Tensor days = texts({4}, {"Monday", "tuesday", "ÉTÉ", "monday"});
  const Attributes lower{{"stopwords", Texts{"monday"}}, {"case_change_action", std::string("LOWER")}};
  expectTexts(run("StringNormalizer", {days}, lower), {2}, {"tuesday", "été"});
  Attributes exact = lower;
  exact["is_case_sensitive"] = Int{1};
  exact["case_change_action"] = std::string("UPPER");
  expectTexts(run("StringNormalizer", {days}, exact), {3}, {"MONDAY", "TUESDAY", "ÉTÉ"});
  expectTexts(run("StringNormalizer", {texts({1, 2}, {"monday", "MONDAY"})}, lower), {1, 1}, {""});
}

TEST(Strings, AreMovedLikeNumbers) {
  const Tensor x = texts({2, 2}, {"a", "b", "c", "d"});
  expectTexts(run("Transpose", {x}), {2, 2}, {"a", "c", "b", "d"});
  expectTexts(run("Gather", {x, ints({1})}), {1, 2}, {"c", "d"});
  expectTexts(run("Concat", {x, texts({1, 2}, {"e", "f"})}, {{"axis", Int{0}}}), {3, 2},
              {"a", "b", "c", "d", "e", "f"});
  expectTexts(run("Reshape", {x, ints({4})}), {4}, {"a", "b", "c", "d"});
  expectTexts(run("Expand", {texts({1}, {"a"}), ints({2})}), {2}, {"a", "a"});
  expectTexts(run("Where", {bools({2}, {1, 0}), texts({2}, {"a", "b"}), texts({}, {"z"})}), {2}, {"a", "z"});
  expectTexts(run("Identity", {x}), {2, 2}, {"a", "b", "c", "d"});
  expectInts(run("Equal", {x, texts({2}, {"a", "d"})}), {2, 2}, {1, 0, 0, 1});
  expectTexts(run("Cast", {floats({2}, {1.5F, -2})}, {{"to", Int{8}}}), {2}, {"1.5", "-2.0"});
}

/// Four single numbers and three pairs.
Attributes grams(Int shortest, Int longest, Int skips) {
  return {{"min_gram_length", shortest},
          {"max_gram_length", longest},
          {"max_skip_count", skips},
          {"mode", std::string("TF")},
          {"ngram_counts", std::vector<Int>{0, 4}},
          {"ngram_indexes", std::vector<Int>{0, 1, 2, 3, 4, 5, 6}},
          {"pool_int64s", std::vector<Int>{2, 3, 5, 4, 5, 6, 7, 8, 6, 7}}};
}

TEST(TfIdf, CountsNGrams) {
  const Tensor x = ints({12}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8});
  // Pairs side by side: (5, 6) once, (7, 8) once, (6, 7) once.
  expectFloats(run("TfIdfVectorizer", {x}, grams(2, 2, 0)), {7}, {0, 0, 0, 0, 1, 1, 1});
  // With up to five between: (7, 8) at distances 1, 3 and 6.
  expectFloats(run("TfIdfVectorizer", {x}, grams(2, 2, 5)), {7}, {0, 0, 0, 0, 1, 3, 1});
  expectFloats(run("TfIdfVectorizer", {x}, grams(1, 2, 5)), {7}, {0, 3, 1, 0, 1, 3, 1});
  expectFloats(run("TfIdfVectorizer", {x.reshaped({2, 6})}, grams(2, 2, 0)), {2, 7},
               {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1});
}

TEST(TfIdf, WeighsTextsToo) {
  Attributes attributes{{"min_gram_length", Int{1}},
                        {"max_gram_length", Int{1}},
                        {"max_skip_count", Int{0}},
                        {"mode", std::string("TFIDF")},
                        {"ngram_counts", std::vector<Int>{0}},
                        {"ngram_indexes", std::vector<Int>{1, 0}},
                        {"weights", std::vector<float>{2, 0.5F}},
                        {"pool_strings", Texts{"a", "b"}}};
  const Tensor x = texts({4}, {"a", "b", "a", "c"});
  expectFloats(run("TfIdfVectorizer", {x}, attributes), {2}, {0.5F, 4});
  attributes["mode"] = std::string("IDF");
  expectFloats(run("TfIdfVectorizer", {x}, attributes), {2}, {0.5F, 2});
  attributes["ngram_indexes"] = std::vector<Int>{1};
  EXPECT_EQ(errorOf(run("TfIdfVectorizer", {x}, attributes)),
            "node 'n': attribute 'ngram_indexes': has 1 entries, but the pool has 2 n-grams");
}

Result<std::vector<Tensor>> encoded(const Tensor& x, Attributes attributes) {
  Node node = nodeOf("LabelEncoder", 1, std::move(attributes));
  node.domain = "ai.onnx.ml";
  const Tensor* inputs[] = {&x};
  return runNode(node, inputs);
}

TEST(LabelEncoder, LooksUpByKey) {
  const Attributes toNumbers{{"keys_strings", Texts{"a", "b", "a"}}, {"values_int64s", std::vector<Int>{1, 2, 3}}};
  expectInts(encoded(texts({3}, {"a", "b", "c"}), toNumbers), {3}, {3, 2, -1});
  const Attributes toTexts{{"keys_floats", std::vector<float>{1, NAN}},
                           {"values_strings", Texts{"one", "none"}},
                           {"default_string", std::string("?")}};
  expectTexts(encoded(floats({3}, {NAN, 1, 2}), toTexts), {3}, {"none", "one", "?"});
  const Attributes tensors{{"keys_tensor", ints({5, 6})},
                           {"values_tensor", floats({2}, {0.5F, 0.25F})},
                           {"default_tensor", floats({1}, {9})}};
  expectFloats(encoded(ints({6, 7}), tensors), {2}, {0.25F, 9});
  EXPECT_EQ(errorOf(encoded(ints({1}), {{"keys_int64s", std::vector<Int>{1}}, {"values_strings", Texts{}}})),
            "node 'n': the node has 1 keys, but 0 values");
  EXPECT_EQ(errorOf(encoded(ints({1}), toNumbers)),
            "node 'n': the keys have type string, but the input has type int64");
}

}  // namespace
}  // namespace fusescope::testing
