// What `--help` says comes from the list of operations, and the phases that the worker reports are those of the list.
#include <algorithm>
#include <set>
#include <sstream>

#include "session/operations/operation.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

TEST(Help, SaysRangesFilesAndTheExitStatus) {
  const std::string calibrate = fusescopeCommand({"calibrate", "--help"}).out;
  EXPECT_NE(calibrate.find("between 50 and 100"), std::string::npos) << calibrate;
  EXPECT_NE(calibrate.find("Files that are written: --output"), std::string::npos);
  const std::string tune = fusescopeCommand({"tune", "--help"}).out;
  EXPECT_NE(tune.find("1 if no set of pins reaches the goal"), std::string::npos) << tune;
  EXPECT_EQ(tune.find("fusescope export"), std::string::npos) << "examples of other commands";
  EXPECT_NE(fusescopeCommand({"--help"}).out.find("fusescope export"), std::string::npos);
}

/// Returns the lines of the help whose description does not begin in the column of the others.
std::vector<std::string> misplacedLines(const std::string& help) {
  constexpr std::size_t kColumn = 30;
  std::vector<std::string> misplaced;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    std::size_t column = 0, gap = 0;
    bool isMisplaced = false;
    for (const char c : line) {
      if (gap >= 2 && c != ' ' && column > 2) {
        isMisplaced = column != kColumn;
        break;
      }
      gap = c == ' ' ? gap + 1 : 0;
      column += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    }
    if (isMisplaced) misplaced.push_back(line);
  }
  return misplaced;
}

TEST(Help, DescriptionsBeginInOneColumn) {
  const std::string plan = fusescopeCommand({"plan", "--help"}).out;
  ASSERT_NE(plan.find("TYPE[,TYPE…]"), std::string::npos) << "an option whose value is written with an ellipsis";
  for (const Operation* operation : operations()) {
    if (operation->name.find(' ') != std::string_view::npos) continue;
    const std::string help = fusescopeCommand({std::string(operation->name), "--help"}).out;
    EXPECT_TRUE(help.starts_with(std::string(operation->summary))) << help;
    EXPECT_EQ(misplacedLines(help), std::vector<std::string>()) << operation->name;
  }
}

/// Sends a request to a worker of its own and returns the phases that it reports.
std::set<std::string> phasesReported(const std::string& op, const Json& more) {
  const Json source{{"path", samplePath("fp16_overflow")},
                    {"options", {{"target", "cpu"}, {"precisions", {"f32", "f16"}}}}};
  const std::string inputs = sampleInputs("fp16_overflow");
  Json request{{"id", 1}, {"op", op}, {"source", source}, {"inputs", {{"paths", {inputs}}, {"batch_axis", nullptr}}}};
  request.update(more);
  // The worker cancels what it works on when its input ends, so that this stays open until it has answered.
  static const std::string script =
      "mkfifo in && { \"$0\" < in > out & } && exec 3> in && printf '%s\\n' \"$1\" >&3 && "
      "until grep -qE '\"event\":\"(done|error)\"' out; do sleep 0.02; done; exec 3>&-; wait; cat out";
  const TemporaryFolder folder;
  const ProcessResult worker =
      runProcess({"/bin/bash", "-c", "cd \"$2\" && " + script, binary("fusescope-worker").string(), request.dump(),
                  folder.path().string()});
  std::set<std::string> phases;
  std::istringstream lines(worker.out);
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    EXPECT_NE(event["event"], "error") << op << ": " << line;
    if (event["event"] == "progress") phases.insert(event["phase"].get<std::string>());
  }
  EXPECT_FALSE(phases.empty()) << op << ": " << worker.err;
  return phases;
}

TEST(Help, PhasesThatTheWorkerReportsAreThoseOfTheList) {
  const TemporaryFolder folder;
  const Json brief{{"settings", {{"seconds", 0.05}, {"warmup", 0.01}}}};
  const std::vector<std::pair<std::string, Json>> requests{
      {"build", {{"settings", {{"output", (folder.path() / "e.fse").string()}}}}},
      {"run", Json::object()},
      {"time", brief},
      {"compare", {{"other", {{"path", samplePath("fp16_overflow")}}}, {"settings", {{"seconds", 0.05}}}}},
      {"errors", Json::object()},
      {"calibrate", Json::object()},
      {"tune", {{"settings", {{"max_error", 1e-2}}}}},
      {"export", {{"settings", {{"to", "onnx"}, {"check", true}, {"output", (folder.path() / "t.onnx").string()}}}}}};
  for (const auto& [op, more] : requests) {
    const Operation* operation = findOperation(op);
    ASSERT_NE(operation, nullptr) << op;
    std::set<std::string, std::less<>> listed(phasesOfOpening().begin(), phasesOfOpening().end());
    listed.insert(operation->phases.begin(), operation->phases.end());
    for (const std::string& phase : phasesReported(op, more))
      EXPECT_TRUE(listed.contains(phase)) << op << " reports " << phase;
  }
}

}  // namespace
}  // namespace fusescope::test
