// What may be handed to PyTorch: only files of which nothing is passed over that it would load or run.
#include "frontends/torch/torch_safety.h"

#include "base/zip_archive.h"
#include "frontends/example_inputs.h"
#include "frontends/input_spec_metadata.h"
#include "tests/unit/torch/pt2_cases.h"

namespace fusescope::test {
namespace {

class HandedToTorch : public ::testing::Test {
 protected:
  /// Why a file of these bytes is not handed over; empty: it is.
  std::string why(const std::string& bytes) const {
    const auto checked = checkHandableToTorch(m_folder.write("net.pt2", bytes));
    return checked.ok() ? std::string() : checked.error().text();
  }
  static std::vector<ZipMember> membersOf(const std::string& pt2) {
    const auto reader = ZipReader::of(std::as_bytes(std::span(pt2)));
    std::vector<ZipMember> members;
    for (std::size_t i = 0; i < reader.value().entries().size(); ++i) {
      const auto held = reader.value().bytes(i, std::uint64_t{1} << 30).value();
      members.push_back(
          {reader.value().entries()[i].name, std::string(reinterpret_cast<const char*>(held.data()), held.size())});
    }
    return members;
  }
  static std::string withMember(const std::string& pt2, const std::string& name, const std::string& content) {
    std::vector<ZipMember> members = membersOf(pt2);
    std::erase_if(members, [&](const ZipMember& member) { return member.name == name; });
    members.push_back({name, content});
    return zipBytes(members);
  }
  /// Of the small program with `what` among its JSON.
  static std::string withJson(const std::string& what) {
    Pt2Content content = smallProgram();
    content.program.insert(content.program.find('{') + 1, what + ", ");
    return pt2Bytes(Pt2Kind::RawWeights, content);
  }
  TemporaryFolder m_folder;
};

TEST_F(HandedToTorch, WhatPyTorchWritesIs) {
  for (const Pt2Kind kind : {Pt2Kind::PlainZip, Pt2Kind::PickledWeights, Pt2Kind::RawWeights})
    EXPECT_EQ(why(pt2Bytes(kind, smallProgram())), "");
  const std::string small = pt2Bytes(Pt2Kind::RawWeights, smallProgram());
  EXPECT_EQ(why(withMember(small, "net/extra/notes/mine.json", "{}")), "");
}

TEST_F(HandedToTorch, MembersThatAreNotReadAreNamed) {
  const std::string small = pt2Bytes(Pt2Kind::RawWeights, smallProgram());
  for (const char* member :
       {"net/data/aotinductor/model/code.so", "net/models/other.json", "net/data/sample_inputs/other.pt",
        "net/data/constants/custom_obj_0", "net/code/x.py", "net/data/weights/other_weights_config.json"}) {
    const std::string said = why(withMember(small, member, "x"));
    EXPECT_NE(said.find(member), std::string::npos) << said;
    EXPECT_NE(said.find("is not passed to torch"), std::string::npos) << said;
  }
  const std::string plain = pt2Bytes(Pt2Kind::PlainZip, smallProgram());
  EXPECT_NE(why(withMember(plain, "net/models/model.json", "{}")), "") << "which of the two would be loaded?";
}

TEST_F(HandedToTorch, ObjectsThatAreNoTensorsAreRefused) {
  const std::string small = pt2Bytes(Pt2Kind::RawWeights, smallProgram());
  const std::string said = why(withMember(small, "net/data/constants/model_constants_config.json",
                                          R"({"config": {"object": {"path_name": "tensor_0", "use_pickle": true}}})"));
  EXPECT_NE(said.find("'object'"), std::string::npos) << said;
}

TEST_F(HandedToTorch, ExamplesThatAreRefusedKeepTheFileHere) {
  Pt2Content content = smallProgram();
  content.examples = savedBytes(PickleWriter().global("os", "system").bytes(), {});
  EXPECT_NE(why(pt2Bytes(Pt2Kind::RawWeights, content)).find("os"), std::string::npos);
}

TEST_F(HandedToTorch, TextsThatSymPyWouldRunAreRefused) {
  Pt2Content content = smallProgram();
  content.program = with(content.program, "Symbol('s0', positive=True, integer=True)", "__import__('os').getpid()");
  const std::string said = why(pt2Bytes(Pt2Kind::RawWeights, content));
  EXPECT_NE(said.find("which PyTorch would evaluate as a program"), std::string::npos) << said;
}

TEST_F(HandedToTorch, NumbersThatJsonDoesNotHaveHideNoText) {
  EXPECT_EQ(why(withJson(R"("noise": NaN)")), "");
  const std::string said = why(withJson(R"json("noise": [NaN, {"expr_str": "__import__('os').getpid()"}])json"));
  EXPECT_NE(said.find("which PyTorch would evaluate as a program"), std::string::npos) << said;
}

TEST_F(HandedToTorch, WhatIsPickledIsTrueOrFalse) {
  const std::string small = pt2Bytes(Pt2Kind::RawWeights, smallProgram());
  for (const ZipMember& member : membersOf(small)) {
    if (!member.name.ends_with("weights_config.json")) continue;
    for (const char* truthy : {"1", "\"yes\"", "[0]"}) {
      std::string config = member.content;
      const std::size_t at = config.find("false", config.find("use_pickle"));
      ASSERT_NE(at, std::string::npos) << config;
      const std::string said = why(withMember(small, member.name, config.replace(at, 5, truthy)));
      EXPECT_NE(said.find("must be true or false"), std::string::npos) << said;
    }
  }
}

TEST_F(HandedToTorch, NotesOfOursHideNoExamples) {
  Pt2Content content = smallProgram();
  content.examples = savedBytes(PickleWriter().global("os", "system").bytes(), {});
  const std::string noted = withMember(pt2Bytes(Pt2Kind::RawWeights, content), "net/extra/fusescope.json",
                                       R"({"fusescope.example_inputs": {"version": 1, "inputs": []}})");
  EXPECT_NE(why(noted).find("os"), std::string::npos) << why(noted);
}

TEST_F(HandedToTorch, AnotherFolderIsNotTakenForTheProgramsOwn) {
  std::vector<ZipMember> members = membersOf(pt2Bytes(Pt2Kind::PlainZip, smallProgram()));
  members.insert(members.begin(), {"extra_files/archive_format", "pt2"});
  EXPECT_NE(why(zipBytes(members)).find("first member"), std::string::npos) << why(zipBytes(members));
  const std::string small = pt2Bytes(Pt2Kind::RawWeights, smallProgram());
  EXPECT_NE(why(withMember(small, "Xextra/models/model.json", "{}")), "");
}

TEST_F(HandedToTorch, ContainersThatImportWhatTheFileNamesAreRefused) {
  const auto tree = [](const std::string& type, const std::string& context) {
    return R"("noise": {"in_spec": "[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [)"
           R"({\"type\": \")" +
           type + R"(\", \"context\": \")" + context + R"(\", \"children_spec\": []}]}]"})";
  };
  EXPECT_EQ(why(withJson(tree("builtins.dict", R"([\\\"x\\\"])"))), "");
  for (const std::string& harmful :
       {tree("collections.defaultdict", "null"), tree("antigravity.Flight", "null"),
        tree("builtins.dict", R"([{\\\"__enum__\\\": true}])"), std::string(R"("noise": {"out_spec": "[1, {"})")}) {
    const std::string said = why(withJson(harmful));
    EXPECT_NE(said.find("PyTorch would import what the file names"), std::string::npos) << harmful << said;
  }
}

TEST(UntrustedJson, ThatIsTooDeepIsNone) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_FALSE(carriedInputsFromText(R"({"version": 2, "inputs": [{"name": )" + deep + "}]}").ok());
  EXPECT_FALSE(exampleInputsFromText(R"({"version": 1, "inputs": )" + deep + "}").ok());
}

TEST(Expressions, OfExtentsAreHarmless) {
  for (const char* text :
       {"Symbol('s77', positive=True, integer=True)", "Mul(Integer(8), Symbol('s39', positive=True))", "8*s39 + 1",
        "Max(1, FloorDiv(Integer(-3), s0))", "s0 >= 2", "Eq(Mod(u0, 2), 0)", "Float('-1.5', precision=53)",
        "(s0 + 1)*(2)", "1.5", "", "2.0*s0"})
    EXPECT_TRUE(torch::isHarmlessExpression(text)) << text;
  for (const char* text : {"__import__('os')", "exec(chr(1))", "print (1)", "().__class__", "s0.name", "1 .real",
                           "1.real", "Symbol('a b')", "Symbol(\"a\")", "[1]", "{}", "lambda: 1", "Max(1)(2)",
                           "Max(1) (2)", "__builtins__", "a;b", "'a'.join", "s0\n"})
    EXPECT_FALSE(torch::isHarmlessExpression(text)) << text;
}

}  // namespace
}  // namespace fusescope::test
