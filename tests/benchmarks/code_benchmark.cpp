// Whether keeping our own compiled code would pay: `code_benchmark MODEL.onnx …`. Of each network: how long making the
// code of all its different regions takes, and how long finding as many small entries in a store on disk would take,
// which is less than reading code would.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "backends/threads.h"
#include "base/elapsed.h"
#include "base/temporary_folder.h"
#include "cache/disk_store.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/kernel_store.h"
#include "session/artifact.h"
#include "session/open_model.h"

namespace fusescope {
namespace {

constexpr std::size_t kBytes = 2048;  // of an entry

using Clock = std::chrono::steady_clock;

struct Cost {
  std::size_t regions = 0;
  std::set<std::string> keys;
  double keyMs = 0, makeMs = 0;
};

Result<Cost> costOfMaking(const Plan& plan, const std::map<std::string, Dims>& extents) {
  Cost cost;
  const Backend& backend = *findBackend("native");
  const KernelRequests requests = TRY(KernelRequests::create(plan, extents, hardwareThreads()));
  for (const FusedNode& fused : plan.fusedNodes) {
    const auto request = requests.of(fused);
    if (!request.ok()) continue;
    const auto tactics = backend.tactics(request.value());
    if (tactics.empty()) continue;
    ++cost.regions;
    auto start = Clock::now();
    const bool isNew = cost.keys.insert(codeKey(backend, request.value(), tactics.front())).second;
    cost.keyMs += msSince(start);
    if (!isNew) continue;
    start = Clock::now();
    std::ignore = backend.compile(request.value(), tactics.front());
    cost.makeMs += msSince(start);
  }
  return cost;
}

double costOfFinding(const std::set<std::string>& keys, double& openMs) {
  const auto folder = TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-code").value();
  std::mt19937_64 random(1);
  {
    const auto store = DiskStore::open(folder / "store");
    for (const std::string& key : keys) {
      std::string bytes(kBytes, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      store->put(key, bytes, 50);
    }
  }
  auto start = Clock::now();
  const auto store = DiskStore::open(folder / "store", {.mode = CacheMode::Read});
  openMs = msSince(start);
  start = Clock::now();
  for (const std::string& key : keys)
    if (!store->get(key)) return -1;
  return msSince(start);
}

Status measure(const std::filesystem::path& path) {
  const auto model = TRY(openModel(path));
  const auto plan = TRY(makePlan(model, PlanOptions{}));
  std::map<std::string, Dims> extents;
  for (const InputSpec& spec : plan->inputSpecs) extents[spec.name] = spec.opt;
  std::ignore = TRY(costOfMaking(*plan, extents));  // what is done once in a process is no cost of a region
  const Cost cost = TRY(costOfMaking(*plan, extents));
  double openMs = 0;
  const double findMs = costOfFinding(cost.keys, openMs);
  fmt::print(
      "{}: {} regions, {} different; keys {:.2f} ms; made in {:.2f} ms; store opened in {:.2f} ms, found in {:.2f} "
      "ms: {:.1f} times as long\n",
      path.filename().string(), cost.regions, cost.keys.size(), cost.keyMs, cost.makeMs, openMs, findMs,
      (openMs + findMs) / cost.makeMs);
  return Done{};
}

}  // namespace
}  // namespace fusescope

int main(int argc, char** argv) {
  ::setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "0", 1);  // as in a process that makes it for the first time
  for (int i = 1; i < argc; ++i)
    if (const auto status = fusescope::measure(argv[i]); !status.ok())
      std::fprintf(stderr, "%s\n", status.error().text().c_str());
}
