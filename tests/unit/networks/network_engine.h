#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "engine/engine.h"
#include "session/artifact.h"
#include "session/open_model.h"

namespace fusescope::test {

/// The engine of a network planned without directives, with each kernel's first tactic. Throws where one cannot be
/// built.
inline std::unique_ptr<Engine> engineFor(const std::filesystem::path& path, const std::string& backend) {
  auto model = openModel(path);
  if (!model.ok()) throw std::runtime_error(model.error().text());
  auto plan = makePlan(model.value(), PlanOptions{});
  if (!plan.ok()) throw std::runtime_error(plan.error().text());
  auto engine = buildEngine(plan.value(), {.backend = backend, .measureTactics = false});
  if (!engine.ok()) throw std::runtime_error(engine.error().text());
  return std::move(engine).value();
}

}  // namespace fusescope::test
