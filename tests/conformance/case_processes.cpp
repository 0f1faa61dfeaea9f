#include "tests/conformance/case_processes.h"

#include "base/json.h"
#include "tests/support/isolated_runs.h"

namespace fusescope::conformance {
namespace {

std::string toText(const Outcome& outcome) {
  const Json json{{"passed", outcome.passed},
                  {"problem", outcome.problem},
                  {"message", outcome.message},
                  {"native", outcome.native},
                  {"kernels", outcome.kernels}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Outcome fromText(const std::string& text) {
  const Json json = Json::parse(text);
  return {.passed = json.at("passed"),
          .problem = json.at("problem"),
          .message = json.at("message"),
          .native = json.at("native"),
          .kernels = json.at("kernels")};
}

}  // namespace

std::map<std::string, Outcome> runCases(const std::vector<Case>& cases, const ProcessOptions& options) {
  const auto work = [&](std::size_t i) {
    const bool isNarrow = options.narrow != DataType::Undefined;
    return toText(isNarrow ? runNarrowCase(cases[i], options.narrow) : runCase(cases[i], options.backend));
  };
  const auto results =
      test::runIsolated(cases.size(), work, {.jobs = options.jobs, .secondsPerItem = options.secondsPerCase});
  std::map<std::string, Outcome> outcomes;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& result = results[i];
    outcomes[cases[i].name] =
        result.problem.empty()
            ? fromText(result.text)
            : Outcome{.passed = false, .problem = result.problem, .message = result.detail, .native = false};
  }
  return outcomes;
}

}  // namespace fusescope::conformance
