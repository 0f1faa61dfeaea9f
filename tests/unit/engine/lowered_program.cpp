#include "tests/unit/engine/lowered_program.h"

#include <stdexcept>

namespace fusescope::testing {

LoweredProgram::LoweredProgram(std::shared_ptr<const Plan> planned, std::map<std::string, Dims> given,
                               const std::string& backend)
    : plan(std::move(planned)), extents(std::move(given)) {
  BuildReport report;
  auto chooser = TacticChooser::create(*plan, {.backend = backend, .threads = 1, .measureTactics = false}, report, {});
  if (!chooser.ok()) throw std::runtime_error(chooser.error().text());
  auto lowered = lower({.plan = plan.get(),
                        .accelerated = findBackend(backend),
                        .threads = 1,
                        .extents = extents,
                        .dynamicKernels = &m_dynamicKernels},
                       chooser.value());
  if (!lowered.ok()) throw std::runtime_error(lowered.error().text());
  program = std::make_shared<Program>(std::move(lowered).value());
}

}  // namespace fusescope::testing
