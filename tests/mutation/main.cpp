// Damages models by seed and holds that import and planning either refuse each file in words that name a place, or
// make a plan that passes the verifier, in bounded time and memory.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "tests/mutation/mutations.h"
#include "tests/mutation/probe.h"
#include "tests/support/isolated_runs.h"
#include "tests/support/paths.h"

namespace fusescope::mutation {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::uint64_t first = 1;
  std::size_t count = 300;
  std::string write;
  bool list = false;
  test::IsolationOptions isolation{
      .jobs = 2, .itemsPerProcess = 64, .secondsPerItem = 60, .memoryBytes = std::size_t{6} << 30};
};

/// The samples, and the small networks of the shared zoo where there is one.
std::vector<fs::path> models() {
  constexpr std::uintmax_t kLargest = 6 << 20;
  std::vector<fs::path> folders{fs::path(FUSESCOPE_SOURCE_DIR) / "resources/samples"};
  if (const auto shared = test::sharedFolder()) folders.push_back(*shared / "zoo");
  std::vector<fs::path> found;
  for (const auto& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder))
      for (const char* name : {"model.onnx", "model.weightless.onnx"})
        if (fs::exists(entry.path() / name) && fs::file_size(entry.path() / name) <= kLargest)
          found.push_back(entry.path() / name);
  std::ranges::sort(found);
  return found;
}

std::string joinedSteps(const Mutant& mutant) {
  std::string text;
  for (const auto& step : mutant.steps) text += (text.empty() ? "" : ", ") + step;
  return text;
}

int writeMutant(const Options& options, const std::vector<std::string>& contents, const std::vector<fs::path>& files) {
  const std::size_t model = options.first % contents.size();
  const Mutant mutant = mutated(contents[model], options.first);
  if (const auto written = writeFileAtomically(options.write, mutant.bytes); !written.ok()) {
    fmt::print(stderr, "{}\n", written.error().text());
    return 1;
  }
  fmt::print("{}: {}\n{}\n", files[model].string(), joinedSteps(mutant), probe(options.write));
  return 0;
}

int run(const Options& options) {
  const auto files = models();
  std::vector<std::string> contents;
  for (const auto& file : files) {
    auto text = readTextFile(file);
    if (!text.ok()) {
      fmt::print(stderr, "{}\n", text.error().text());
      return 1;
    }
    contents.push_back(std::move(text).value());
  }
  if (!options.write.empty()) return writeMutant(options, contents, files);

  const test::TemporaryFolder folder;
  const auto work = [&](std::size_t i) {
    const std::uint64_t seed = options.first + i;
    const Mutant mutant = mutated(contents[seed % contents.size()], seed);
    return probe(folder.write(fmt::format("{}.onnx", ::getpid()), mutant.bytes));
  };
  const auto results = test::runIsolated(options.count, work, options.isolation);

  std::size_t planned = 0, refused = 0, bad = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& [text, problem, detail] = results[i];
    const std::uint64_t seed = options.first + i;
    const bool isPlanned = problem.empty() && text == "planned";
    const bool isRefused = problem.empty() && text.starts_with("refused: ");
    planned += isPlanned ? 1 : 0;
    refused += isRefused ? 1 : 0;
    if (options.list && isRefused) fmt::print("{} {}\n", seed, text);
    if (isPlanned || isRefused) continue;
    ++bad;
    const std::size_t model = seed % contents.size();
    fmt::print("BAD seed {} ({}: {}): {}\n", seed, files[model].parent_path().filename().string(),
               joinedSteps(mutated(contents[model], seed)), problem.empty() ? text : problem + ", " + detail);
  }
  fmt::print("suite: mutation: {} damaged files of {} networks: {} planned, {} refused with a place, {} bad\n",
             results.size(), files.size(), planned, refused, bad);
  return bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fusescope::mutation

int main(int argc, char** argv) {
  fusescope::mutation::Options options;
  CLI::App app("Damages models and probes import and planning with them");
  app.add_option("--first", options.first, "First seed");
  app.add_option("--count", options.count, "Number of seeds");
  app.add_option("--write", options.write, "Write the file of the first seed here, and probe it alone");
  app.add_option("--jobs", options.isolation.jobs, "Processes at a time")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.isolation.secondsPerItem, "What a file may take");
  app.add_flag("--list", options.list, "Print every refusal");
  CLI11_PARSE(app, argc, argv);
  return fusescope::mutation::run(options);
}
