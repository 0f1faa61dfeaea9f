// What people are told who write a command that is not one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

std::string saidOf(const std::vector<std::string>& words) {
  const auto result = fusescopeCommand(words);
  EXPECT_EQ(result.status, 2) << result.out;
  return result.err;
}

TEST(Usage, AnOptionOrCommandThatIsMisspeltIsNamedWithTheNearest) {
  EXPECT_EQ(saidOf({"plan", "model.onnx", "--precison", "f16"}),
            "fusescope: plan has no option '--precison'. The nearest is --precision.\n");
  EXPECT_EQ(saidOf({"plan", "model.onnx", "--quux=3"}),
            "fusescope: plan has no option '--quux'. fusescope plan --help lists its options and arguments.\n");
  EXPECT_EQ(saidOf({"plna", "model.onnx"}), "fusescope: there is no command 'plna'. The nearest is plan.\n");
  EXPECT_EQ(saidOf({"plan", "a.onnx", "b.onnx"}),
            "fusescope: plan does not take 'b.onnx' here. fusescope plan --help lists its options and arguments.\n");
  EXPECT_EQ(saidOf({"--precision", "plan", "a.onnx"}),
            "fusescope: --precision must follow the command, not precede it. "
            "fusescope plan --help lists its options and arguments.\n");
}

TEST(Usage, ASubcommandThatThereIsNotIsNamed) {
  EXPECT_EQ(saidOf({"cache", "bogus"}).rfind("fusescope: 'bogus' is not a subcommand of cache. Give one of list", 0),
            0U)
      << saidOf({"cache", "bogus"});
  EXPECT_EQ(saidOf({"cache"}).rfind("fusescope: the subcommand of cache is missing. Give one of list", 0), 0U);
}

TEST(Usage, BytesMayHaveAUnit) {
  const TemporaryFolder folder;
  const std::string before = std::getenv("FUSESCOPE_CACHE") == nullptr ? "" : std::getenv("FUSESCOPE_CACHE");
  ::setenv("FUSESCOPE_CACHE", folder.path().c_str(), 1);
  const auto limitWith = [&](const char* text) {
    EXPECT_EQ(fusescopeCommand({"cache", "gc", "--limit", text}).status, 0) << text;
    return jsonOf(fusescopeCommand({"cache", "list", "--json"}))["limit_bytes"].get<std::int64_t>();
  };
  EXPECT_EQ(limitWith("5000"), 5000);
  EXPECT_EQ(limitWith("3K"), 3 << 10);
  EXPECT_EQ(limitWith("2MiB"), 2 << 20);
  EXPECT_EQ(limitWith("1G"), 1 << 30);
  EXPECT_EQ(limitWith("4GiB"), std::int64_t{4} << 30);
  for (const char* text : {"-1M", "1X", "M", "1.5G", "99999999999G"})
    EXPECT_EQ(fusescopeCommand({"cache", "gc", "--limit", text}).status, 2) << text;
  before.empty() ? ::unsetenv("FUSESCOPE_CACHE") : ::setenv("FUSESCOPE_CACHE", before.c_str(), 1);
}

TEST(Usage, HelpNamesAPositionalArgumentOnceByItsWord) {
  const auto help = [](const char* command) { return fusescopeCommand({command, "--help"}).out; };
  EXPECT_EQ(help("plan").find("MODEL MODEL"), std::string::npos) << help("plan");
  EXPECT_NE(help("run").find("\n  MODEL|E.fse"), std::string::npos) << help("run");
  EXPECT_EQ(help("report").find("A A"), std::string::npos) << help("report");
}

TEST(Usage, FilesBehindAnOptionThatTakesOneAreToldHowToBeGiven) {
  const std::string model = samplePath("fp16_overflow");
  EXPECT_EQ(
      saidOf({"errors", model, "--inputs", "a.npz", "b.npz"}),
      "fusescope: errors does not take 'b.npz' here. --inputs takes one value, and is repeated for each of several: "
      "--inputs a.npz --inputs b.npz.\n");
  EXPECT_EQ(
      saidOf({"errors", model, "--inputs", "a.npz", "b.onnx"}),
      "fusescope: errors does not take 'b.onnx' here. fusescope errors --help lists its options and arguments.\n");
}

TEST(Usage, WhatIsWrongWithAnOptionIsSaidOfTheOption) {
  const std::string model = samplePath("fp16_overflow");
  EXPECT_EQ(saidOf({"plan"}).rfind("fusescope: argument 'MODEL': ", 0), 0U);
  const auto holds = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(holds(saidOf({"plan", model, "--precision", "int8"}), "option '--precision': "));
  EXPECT_TRUE(holds(saidOf({"plan", model, "--pin", "qqq=f32"}), "option '--pin qqq=f32': "));
  EXPECT_TRUE(
      holds(saidOf({"run", model, "--threads", "100000"}), "option '--threads': 100000 must be between 1 and 1024"));
  EXPECT_EQ(saidOf({"extract", model, "--nodes", "conv"}),
            "fusescope: option '--output': it is missing. fusescope extract --help lists its options and arguments.\n");
  EXPECT_TRUE(holds(saidOf({"errors", model, "--against", "f61"}), "option '--against': 'f61' is none of f32, f64"));
  EXPECT_TRUE(holds(saidOf({"errors", model, "--tol-rms", "abc"}), "option '--tol-rms': 'abc' is not a number"));
  EXPECT_TRUE(holds(saidOf({"plan", model, "--precision", "f16", "--precision", "bf16"}),
                    "option '--precision': it is given 2 times, but may be given only once"));
  EXPECT_TRUE(holds(saidOf({"plan", model, "--precision"}), "option '--precision': its value is missing"));
  const TemporaryFolder folder;
  EXPECT_TRUE(holds(saidOf({"extract", model, "--nodes", "qqq", "-o", (folder / "p.onnx").string()}),
                    "option '--nodes': the pattern 'qqq' matches no node"));
  EXPECT_TRUE(holds(saidOf({"calibrate", model, "--exclude", "qqq", "-o", (folder / "r.json").string()}),
                    "option '--exclude': the pattern 'qqq' matches no node"));
}

}  // namespace
}  // namespace fusescope::test
