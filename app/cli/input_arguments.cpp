#include <iostream>

#include "app/cli/command.h"
#include "session/inputs/load_samples.h"
#include "session/inputs/sample_source.h"
#include "session/session_file.h"

namespace fusescope::cli {

SampleSource InputArguments::given(const Artifact& artifact) const {
  SampleSource source{.paths = paths, .batchAxis = batchAxis};
  if (!source.empty() || artifact.session == nullptr) return source;
  SampleSource remembered = artifact.session->settings.inputs;
  if (batchAxis) remembered.batchAxis = batchAxis;
  return remembered;
}

const std::optional<Samples>& InputArguments::carried(const Artifact& artifact) const {
  if (m_askedFor == artifact.plan) return m_carried;
  std::string whyNot;
  m_carried = carriedSamples(*artifact.plan, given(artifact), whyNot);
  m_askedFor = artifact.plan;
  if (!whyNot.empty())
    std::cerr << "fusescope: the example inputs in the network's file are not used: " << whyNot << "\n";
  return m_carried;
}

SampleSource InputArguments::source(const Artifact& artifact) const {
  return carried(artifact) ? SampleSource{.paths = {m_carried->carriedIn}} : given(artifact);
}

Result<Samples> InputArguments::samples(const Artifact& artifact) const {
  const SampleSource from = given(artifact);
  if (from.empty() && from.batchAxis)
    return Diagnostic{.message = "there are no inputs that could be cut",
                      .where = {.attribute = "--batch-axis"},
                      .help = "Give --inputs as well."};
  if (carried(artifact)) return *m_carried;
  return loadSamples(*artifact.plan, from);
}

void printAboutInputs(const Samples& samples) {
  if (!samples.carriedIn.empty())
    std::cout << "on the example inputs in " << samples.carriedIn << ": no others were given (--inputs)\n";
  if (samples.random) std::cout << "on random inputs: no others were given (--inputs)\n";
  if (const auto inputs = notFiniteInputs(samples); !inputs.empty()) std::cout << inWords(inputs) << "\n";
}

}  // namespace fusescope::cli
