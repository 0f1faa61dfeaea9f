// What docs/json.md says of the documents that commands print.
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "base/json.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

std::string document() {
  auto text = readTextFile(std::string(FUSESCOPE_SOURCE_DIR) + "/docs/json.md");
  EXPECT_TRUE(text.ok());
  return text.ok() ? text.value() : std::string();
}

/// Whether the text holds `key` as a word of its own.
bool names(const std::string& text, const std::string& key) {
  const auto isOfWord = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
    if ((at == 0 || !isOfWord(at - 1)) && !isOfWord(at + key.size())) return true;
  return false;
}

/// The documents of commands that are quick.
std::vector<Json> printed(const TemporaryFolder& folder) {
  const std::string model = samplePath("fp16_overflow"), io = sampleInputs("fp16_overflow");
  const std::string engine = (folder.path() / "e.fse").string(), ranges = (folder.path() / "r.json").string();
  const std::vector<std::vector<std::string>> commands{
      {"build", model, "-o", engine},
      {"inspect", model},
      {"inspect", model, "--modules"},
      {"inspect", engine, "--memory"},
      {"explain", model, "node_linear"},
      {"plan", model},
      {"plan", model, "--original"},
      {"run", model, "--inputs", io, "--expect", io, "--mark", "all"},
      {"time", model, "--seconds", "0.05", "--warmup", "0", "--per-layer"},
      {"time", model, "--seconds", "0.05", "--warmup", "0", "--specialise"},
      {"compare", model, model, "--seconds", "0"},
      {"diff", model, model},
      {"errors", model, "--precision", "bf16", "--inputs", io},
      {"verify", model},
      {"tensor", model, "relu_1", "--inputs", io},
      {"calibrate", model, "--inputs", io, "-o", ranges},
      {"export", model, "--to", "dot"},
      {"export", model, "--to", "dot", "-o", (folder.path() / "p.dot").string()},
      {"cache", "list"},
      {"cache", "verify"},
      {"cache", "gc"},
      {"compilers"}};
  std::vector<Json> all;
  for (std::vector<std::string> command : commands) {
    command.emplace_back("--json");
    const ProcessResult result = fusescopeCommand(command);
    EXPECT_EQ(result.status, 0) << command[0] << ": " << result.err;
    all.push_back(Json::parse(result.out, nullptr, false));
    EXPECT_TRUE(all.back().is_object()) << command[0] << " printed " << result.out.substr(0, 100);
  }
  return all;
}

TEST(CliJson, EveryDocumentHasAFormatThatIsDescribed) {
  const TemporaryFolder folder;
  const std::string text = document();
  std::set<std::string> formats;
  for (const Json& json : printed(folder)) {
    ASSERT_TRUE(json.contains("format") && json.contains("version")) << json.dump().substr(0, 200);
    const auto format = json["format"].get<std::string>();
    formats.insert(format);
    EXPECT_TRUE(names(text, format)) << format << " is not in docs/json.md";
    const std::size_t keys = text.find("`" + format + "`: `{");
    if (keys == std::string::npos) continue;  // another document has them
    for (const auto& [key, value] : json.items()) {
      if (key == "format" || key == "version") continue;
      EXPECT_TRUE(names(text.substr(text.find("## Keys")), key)) << key << " of " << format;
    }
  }
  EXPECT_GE(formats.size(), 16U);
}

TEST(CliJson, AnExportWithoutAFileIsTextInTheDocument) {
  const Json json = jsonOf(fusescopeCommand({"export", samplePath("fp16_overflow"), "--to", "dot", "--json"}));
  EXPECT_TRUE(json["path"].is_null());
  EXPECT_TRUE(json["text"].get<std::string>().starts_with("digraph"));
}

TEST(CliJson, AFailedCommandPrintsNothingOnStandardOutput) {
  const ProcessResult result = fusescopeCommand({"plan", "there_is_none.onnx", "--json"});
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.out.empty()) << result.out;
  EXPECT_NE(result.err.find("there_is_none.onnx"), std::string::npos);
}

TEST(CliJson, ACommandThatIsNoneIsNamedByItsWord) {
  const ProcessResult result = fusescopeCommand({"frobnicate", "--json"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("there is no command 'frobnicate'"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace fusescope::test
