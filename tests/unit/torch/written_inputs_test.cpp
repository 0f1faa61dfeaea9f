// InputSpecs and example inputs in a .pt2: written without PyTorch, read back, and nothing else changed.
#include <algorithm>
#include <random>

#include "base/json.h"
#include "base/zip_archive.h"
#include "base/zip_places.h"
#include "engine/carried_examples.h"
#include "frontends/example_inputs.h"
#include "frontends/input_spec_metadata.h"
#include "frontends/torch/pt2_writer.h"
#include "tests/support/command_json.h"
#include "tests/unit/torch/pt2_cases.h"

namespace fusescope::test {
namespace {

constexpr Pt2Kind kWrittenContainers[] = {Pt2Kind::PlainZip, Pt2Kind::PickledWeights, Pt2Kind::RawWeights};

std::string specsOf(std::int64_t min, std::int64_t opt, std::int64_t max) {
  return inputSpecsText({{.name = "picture",
                          .dtype = DataType::F32,
                          .min = {min, 4},
                          .opt = {opt, 4},
                          .max = {max, 4},
                          .source = "user"}});
}

std::string contentOf(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  EXPECT_TRUE(file.ok());
  return {reinterpret_cast<const char*>(file.value()->bytes().data()), file.value()->bytes().size()};
}

/// Each member's content by its name; check sums are compared.
std::map<std::string, std::string> membersIn(const std::string& archive) {
  std::map<std::string, std::string> members;
  const auto reader = ZipReader::of(std::as_bytes(std::span(archive.data(), archive.size())));
  EXPECT_TRUE(reader.ok());
  for (std::size_t i = 0; reader.ok() && i < reader.value().entries().size(); ++i) {
    const auto bytes = reader.value().bytes(i, 1 << 24);
    EXPECT_TRUE(bytes.ok()) << reader.value().entries()[i].name;
    members[reader.value().entries()[i].name] =
        bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()) : "";
  }
  return members;
}

class WrittenInputs : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (m_folder / name).string(); }
  std::string network(const std::string& bytes) const { return m_folder.write("net.pt2", bytes).string(); }
  /// The file with `notes`, imported.
  Model written(const std::string& from, const Pt2Additions& notes, const std::string& to = "new.pt2") const {
    const Status status = writeExportedProgram(from, path(to), notes);
    EXPECT_TRUE(status.ok()) << status.error().text();
    const auto model = importModel(path(to));
    EXPECT_TRUE(model.ok()) << model.error().text();
    return model.ok() ? model.value() : Model();
  }
  TemporaryFolder m_folder;
};

TEST_F(WrittenInputs, AreReadBackAndAllElseStays) {
  for (const Pt2Kind kind : kWrittenContainers) {
    const std::string before = pt2Bytes(kind, smallProgram(kind == Pt2Kind::PlainZip ? "8.2" : "8.17"));
    const Model model = written(network(before), {.inputSpecs = specsOf(2, 4, 8), .exampleInputs = {}});
    ASSERT_EQ(model.inputSpecs.size(), 1U);
    EXPECT_EQ(model.inputSpecs[0].min, (Dims{2, 4}));
    EXPECT_EQ(model.inputSpecs[0].opt, (Dims{4, 4}));
    EXPECT_EQ(model.inputSpecs[0].max, (Dims{8, 4}));
    EXPECT_EQ(model.inputSpecs[0].source, "metadata");
    std::map<std::string, std::string> was = membersIn(before), is = membersIn(contentOf(path("new.pt2")));
    const std::string program =
        kind == Pt2Kind::PlainZip ? "serialized_exported_program.json" : "net/models/model.json";
    const std::string notes = kind == Pt2Kind::PlainZip ? "extra_files/fusescope.json" : "net/extra/fusescope.json";
    EXPECT_TRUE(is.contains(notes));
    Json changed = Json::parse(is[program]);
    EXPECT_TRUE(changed["graph_module"]["metadata"]["custom"].is_string()) << "as PyTorch writes it";
    changed["graph_module"]["metadata"].erase("custom");
    EXPECT_EQ(changed, Json::parse(was[program]));
    for (auto* members : {&was, &is}) {
      members->erase(program);
      members->erase(notes);
    }
    EXPECT_EQ(was, is);
  }
}

TEST_F(WrittenInputs, CustomMetadataOfOthersIsKeptAndGoesFirst) {
  Pt2Content content = smallProgram();
  content.program = with(content.program, R"("metadata": {}},)", R"("metadata": {"custom": "{\"theirs\": [1, 2]}"}},)");
  const std::string from = network(pt2Bytes(Pt2Kind::RawWeights, content));
  (void)written(from, {.inputSpecs = specsOf(2, 4, 8), .exampleInputs = {}});
  const std::string program = membersIn(contentOf(path("new.pt2")))["net/models/model.json"];
  const Json custom = Json::parse(Json::parse(program)["graph_module"]["metadata"]["custom"].get<std::string>());
  EXPECT_EQ(custom["theirs"], Json::array({1, 2}));
  EXPECT_TRUE(custom.contains(kInputSpecsKey));
  // What PyTorch keeps says one thing, the extra file, which it drops, another.
  std::map<std::string, std::string> members = membersIn(contentOf(path("new.pt2")));
  members["net/extra/fusescope.json"] = "{\"" + std::string(kInputSpecsKey) + "\": " + specsOf(3, 3, 3) + "}";
  std::vector<ZipMember> list;
  for (const auto& [name, bytes] : members) list.push_back({.name = name, .content = bytes});
  const auto model = importPt2(zipBytes(list));
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model.value().inputSpecs[0].opt, (Dims{4, 4}));
}

TEST_F(WrittenInputs, CustomMetadataThatIsNoObjectIsNotLost) {
  Pt2Content content = smallProgram();
  content.program = with(content.program, R"("metadata": {}},)", R"("metadata": {"custom": "[1]"}},)");
  const Status status = writeExportedProgram(network(pt2Bytes(Pt2Kind::RawWeights, content)), path("new.pt2"),
                                             {.inputSpecs = specsOf(2, 4, 8), .exampleInputs = {}});
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(std::filesystem::exists(path("new.pt2")));
}

TEST_F(WrittenInputs, OddMembersStay) {
  std::vector<ZipMember> members;
  for (const auto& [name, bytes] : membersIn(pt2Bytes(Pt2Kind::RawWeights, smallProgram())))
    members.push_back({.name = name, .content = bytes, .deflated = name.ends_with("weight_1")});
  members.push_back({.name = "net/extra/their file, \"odd\".bin", .content = std::string("\0\xff\x01", 3)});
  members.push_back({.name = "net/extra/empty", .content = ""});
  members.push_back({.name = "net/models/other.json", .content = "not ours"});
  const std::string from = network(zipBytes(members));
  const Model model = written(from, {.inputSpecs = specsOf(2, 4, 8), .exampleInputs = {}});
  EXPECT_EQ(model.inputSpecs[0].source, "metadata");
  const auto is = membersIn(contentOf(path("new.pt2")));
  for (const ZipMember& member : members) {
    if (member.name == "net/models/model.json") continue;
    EXPECT_EQ(is.at(member.name), member.content) << member.name;
  }
  // A second time, over what the first wrote: nothing is there twice.
  (void)written(path("new.pt2"), {.inputSpecs = specsOf(3, 4, 5), .exampleInputs = {}}, "again.pt2");
  EXPECT_EQ(membersIn(contentOf(path("again.pt2"))).size(), is.size());
}

TEST_F(WrittenInputs, ANewerVersionIsLeftOutWithAWordAndARangeThatWasNotExportedToo) {
  const std::string from = network(pt2Bytes(Pt2Kind::RawWeights, smallProgram()));
  const Model newer = written(from, {.inputSpecs = R"({"version": 9, "what": "ever"})", .exampleInputs = {}});
  EXPECT_EQ(newer.inputSpecs[0].source, "example");
  const auto has = [](const Model& model, std::string_view code) {
    return std::ranges::any_of(model.decisions, [&](const Decision& decision) { return decision.code == code; });
  };
  EXPECT_TRUE(has(newer, "import.input_specs_newer"));
  const ProcessResult over =
      fusescopeCommand({"inputs", path("new.pt2"), "--set", "picture=2..4..8,4", "-o", path("over.pt2")});
  EXPECT_EQ(over.status, 2);
  EXPECT_NE(over.err.find("that would be lost"), std::string::npos) << over.err;
  const Model wide = written(from, {.inputSpecs = specsOf(1, 4, 64), .exampleInputs = {}}, "wide.pt2");
  EXPECT_EQ(wide.inputSpecs[0].max, (Dims{16, 4}));
  EXPECT_TRUE(has(wide, "import.input_specs_ignored"));
}

TEST_F(WrittenInputs, ExamplesGoBeforeThoseOfTheExport) {
  const std::string from = network(pt2Bytes(Pt2Kind::RawWeights, smallProgram()));
  const auto own = readExampleInputs(from);
  ASSERT_TRUE(own.ok());
  ASSERT_EQ(own.value().size(), 1U);
  EXPECT_EQ(own.value()[0].first, "picture");
  EXPECT_EQ(own.value()[0].second.dims(), (Dims{5, 4}));
  const std::map<std::string, Tensor> examples{
      {"picture", Tensor::copyOf<float>(DataType::F32, {2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8})}};
  const std::string text = exampleInputsText(examples).value();
  const Model model = written(from, {.inputSpecs = {}, .exampleInputs = text});
  EXPECT_EQ(model.inputSpecs[0].source, "example") << "only the examples were written";
  const auto read = carriedExamples(path("new.pt2"));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read.value().at("picture").identical(examples.at("picture")));
}

TEST_F(WrittenInputs, TheSourceIsNeverWrittenOver) {
  const std::string bytes = pt2Bytes(Pt2Kind::RawWeights, smallProgram());
  const std::string from = network(bytes);
  std::filesystem::create_hard_link(from, path("link.pt2"));
  for (const std::string& to : {from, path("link.pt2")}) {
    EXPECT_FALSE(writeExportedProgram(from, to, {.inputSpecs = specsOf(2, 4, 8), .exampleInputs = {}}).ok());
    EXPECT_EQ(contentOf(from), bytes);
    const ProcessResult said = fusescopeCommand({"inputs", from, "--set", "picture=2..4..8,4", "-o", to});
    EXPECT_EQ(said.status, 2);
    EXPECT_EQ(contentOf(from), bytes);
  }
}

TEST_F(WrittenInputs, TheCommandWritesThemAndReadsThemBack) {
  const std::string from = network(pt2Bytes(Pt2Kind::RawWeights, smallProgram()));
  const Json shown = commandJson({"inputs", from});
  EXPECT_EQ(shown["inputs"][0]["source"], "example");
  EXPECT_EQ(shown["inputs"][0]["dims"], (Json{"s0", 4}));
  EXPECT_EQ(shown["examples"], Json::array({Json{{"name", "picture"}, {"type", "f32"}, {"dims", {5, 4}}}}));
  const Json written = commandJson({"inputs", from, "--set", "picture=3..8,4", "-o", path("set.pt2")});
  EXPECT_EQ(written["inputs"][0]["opt"], (Json{5, 4})) << "that of the example, since it fits";
  const Json again = commandJson({"inputs", path("set.pt2")});
  EXPECT_EQ(again["inputs"][0]["min"], (Json{3, 4}));
  EXPECT_EQ(again["inputs"][0]["max"], (Json{8, 4}));
  EXPECT_EQ(again["inputs"][0]["source"], "metadata");
  EXPECT_EQ(again["inputs"][0]["given_by"], "user");
  const ProcessResult wide = fusescopeCommand({"inputs", from, "--set", "picture=1..64,4", "-o", path("wide.pt2")});
  EXPECT_EQ(wide.status, 2);
  EXPECT_NE(wide.err.find("the program was not exported for 1..5..64,4"), std::string::npos) << wide.err;
  EXPECT_FALSE(std::filesystem::exists(path("wide.pt2"))) << "nothing half is left";
  const Json plan = commandJson({"plan", path("set.pt2")});
  EXPECT_EQ(plan["input_specs"][0]["max"], (Json{8, 4}));
}

TEST_F(WrittenInputs, ADamagedFileIsRefusedOrWhole) {
  const std::string good = pt2Bytes(Pt2Kind::RawWeights, smallProgram());
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string bad = good;
    for (std::size_t i = 1 + random() % 3; i > 0; --i) bad[random() % bad.size()] = static_cast<char>(random());
    const std::string from = m_folder.write("bad.pt2", bad).string();
    const std::string to = path("of_bad.pt2");
    std::filesystem::remove(to);
    const bool wrote = writeExportedProgram(from, to, {.inputSpecs = specsOf(2, 4, 8), .exampleInputs = {}}).ok();
    EXPECT_EQ(wrote, std::filesystem::exists(to));
    EXPECT_EQ(contentOf(from), bad);
  }
}

}  // namespace
}  // namespace fusescope::test
