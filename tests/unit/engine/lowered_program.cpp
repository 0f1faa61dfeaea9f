#include "tests/unit/engine/lowered_program.h"

#include <stdexcept>

#include "engine/kernels/plan_backend.h"

namespace fusescope::testing {

LoweredProgram::LoweredProgram(std::shared_ptr<const Plan> planned, std::map<std::string, Dims> given,
                               const std::string& backend, int threads)
    : plan(planRunBy(std::move(planned), backend)), extents(std::move(given)) {
  auto chooser = TacticChooser::create(*plan, {.threads = threads, .measureTactics = false}, m_report, {});
  if (!chooser.ok()) throw std::runtime_error(chooser.error().text());
  m_chooser.emplace(std::move(chooser).value());
  auto lowered = lower({.plan = plan.get(), .threads = threads, .extents = extents, .dynamicKernels = &dynamicKernels},
                       *m_chooser);
  if (!lowered.ok()) throw std::runtime_error(lowered.error().text());
  program = std::make_shared<Program>(std::move(lowered).value());
}

}  // namespace fusescope::testing
