// Damages models by seed and holds that import and planning either refuse each file in words that name a place, or
// make a plan that passes the verifier, in bounded time and memory.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
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

/// Models to damage. Networks and operator cases take turns, however many there are of each.
class Models {
 public:
  Models() {
    constexpr std::uintmax_t kLargest = 6 << 20;
    add(fs::path(FUSESCOPE_SOURCE_DIR) / "resources/samples", kLargest, m_networks);
    if (const auto shared = test::sharedFolder()) add(*shared / "zoo", kLargest, m_networks);
    if (const char* cases = std::getenv("FUSESCOPE_CONFORMANCE"); cases != nullptr) add(cases, kLargest, m_cases);
  }

  const fs::path& of(std::uint64_t seed) const {
    if (m_cases.empty()) return m_networks[seed % m_networks.size()];
    const auto& files = seed % 2 == 0 ? m_networks : m_cases;
    return files[seed / 2 % files.size()];
  }

  std::string text() const {
    return fmt::format("{} networks and {} operator cases", m_networks.size(), m_cases.size());
  }

 private:
  static void add(const fs::path& folder, std::uintmax_t largest, std::vector<fs::path>& files) {
    for (const auto& entry : fs::directory_iterator(folder))
      for (const char* name : {"model.onnx", "model.weightless.onnx"})
        if (fs::exists(entry.path() / name) && fs::file_size(entry.path() / name) <= largest)
          files.push_back(entry.path() / name);
    // By the network's name first: a seed means the same file wherever the folders lie.
    std::ranges::sort(files, {}, [](const fs::path& file) { return std::pair(file.parent_path().filename(), file); });
  }

  std::vector<fs::path> m_networks, m_cases;
};

Mutant mutantOf(const Models& models, std::uint64_t seed) {
  const auto bytes = readTextFile(models.of(seed));
  return bytes.ok() ? mutated(bytes.value(), seed) : Mutant{};
}

std::string joinedSteps(const Mutant& mutant) {
  std::string text;
  for (const auto& step : mutant.steps) text += (text.empty() ? "" : ", ") + step;
  return text;
}

int writeMutant(const Options& options, const Models& models) {
  const Mutant mutant = mutantOf(models, options.first);
  if (const auto written = writeFileAtomically(options.write, mutant.bytes); !written.ok()) {
    fmt::print(stderr, "{}\n", written.error().text());
    return 1;
  }
  fmt::print("{}: {}\n{}\n", models.of(options.first).string(), joinedSteps(mutant), probe(options.write));
  return 0;
}

int run(const Options& options) {
  const Models models;
  if (!options.write.empty()) return writeMutant(options, models);

  const test::TemporaryFolder folder;
  const auto work = [&](std::size_t i) {
    const std::uint64_t seed = options.first + i;
    return probe(folder.write(fmt::format("{}.onnx", ::getpid()), mutantOf(models, seed).bytes));
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
    fmt::print("BAD seed {} ({}: {}): {}\n", seed, models.of(seed).parent_path().filename().string(),
               joinedSteps(mutantOf(models, seed)), problem.empty() ? text : problem + ", " + detail);
  }
  fmt::print("suite: mutation: {} damaged files of {}: {} planned, {} refused with a place, {} bad\n", results.size(),
             models.text(), planned, refused, bad);
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
