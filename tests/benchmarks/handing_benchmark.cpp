// What handing tensors from segment to segment costs: `handing_benchmark MODEL.onnx COMPILER NODE … [RUNS]`. The
// network is compiled by COMPILER with these nodes on our own engine, and run; from the median of the runs goes what
// each segment takes by its own measure.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/elapsed.h"
#include "compilers/compile_network.h"
#include "frontends/importers.h"
#include "passes/pipelines.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"

namespace fusescope {
namespace {

Status measure(const std::vector<std::string>& words) {
  const Compiler* compiler = findCompiler(words[1]);
  if (compiler == nullptr) return Diagnostic{.message = "there is no compiler " + words[1]};
  PlanOptions options{.compiler = words[1], .target = compiler->target()};
  int runs = 200;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (const int number = std::atoi(words[i].c_str()); number > 0) {
      runs = number;
    } else {
      options.directives.push_back(fallbackDirective(words[i]));
    }
  }
  assignIds(options.directives);
  const auto model = std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(words[0])))));
  const auto plan = TRY(makePlan(model, options));
  const auto engine = TRY(compileNetwork(*compiler, plan, {.threads = 1, .measureTactics = false}));
  const auto inputs = randomInputs(engine->plan());
  for (int i = 0; i < 5; ++i) TRY(engine->run(inputs, {}, {}));
  std::vector<double> ms;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    TRY(engine->run(inputs, {}, {}));
    ms.push_back(msSince(begin));
  }
  const auto middle = ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2);
  std::ranges::nth_element(ms, middle);
  const TimeReport alone = TRY(engine->time(inputs, {.seconds = 2}));
  fmt::print("{} segments: a run takes {:.3f} ms (median of {}), its segments {:.3f} ms, handing over {:.3f} ms\n",
             engine->plan().segments.size(), *middle, runs, alone.medianMs.value_or(0),
             *middle - alone.medianMs.value_or(0));
  return Done{};
}

}  // namespace
}  // namespace fusescope

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) {
    fmt::print(stderr, "handing_benchmark MODEL.onnx COMPILER [NODE …] [RUNS]\n");
    return 2;
  }
  const fusescope::Status status = fusescope::measure(words);
  if (!status.ok()) fmt::print(stderr, "{}\n", status.error().text());
  return status.ok() ? 0 : 1;
}
