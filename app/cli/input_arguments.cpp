#include <iostream>

#include "app/cli/command.h"
#include "session/session_file.h"

namespace fusescope::cli {
namespace {

void sayWhyNotCarried(const std::string& whyNot) {
  if (!whyNot.empty())
    std::cerr << "fusescope: the example inputs that the network carries are not taken: " << whyNot << "\n";
}

}  // namespace

void InputArguments::declare(CLI::App& app) {
  repeatable(app, "--inputs", paths,
             "inputs: .npz, .npy, .pb, Polygraphy's .json, the examples in a .pt2, or a folder of them; random ones if "
             "not given")
      ->type_name("F");
  app.add_option("--batch-axis", batchAxis, "cut the inputs along this axis into samples")
      ->type_name("AXIS")
      ->check(wholeNumber());
}

SampleSource InputArguments::given(const Artifact& artifact) const {
  SampleSource source{.paths = paths, .batchAxis = batchAxis};
  if (!source.empty() || artifact.session == nullptr) return source;
  SampleSource remembered = artifact.session->settings.inputs;
  if (batchAxis) remembered.batchAxis = batchAxis;
  return remembered;
}

SampleSource InputArguments::source(const Artifact& artifact) const {
  std::string whyNot;
  SampleSource taken = orCarried(given(artifact), *artifact.plan, whyNot);
  sayWhyNotCarried(whyNot);
  return taken;
}

Result<Samples> InputArguments::samples(const Artifact& artifact) const {
  const SampleSource from = given(artifact);
  if (from.empty() && from.batchAxis)
    return Diagnostic{
        .message = "there are no inputs to cut", .where = {.attribute = "--batch-axis"}, .help = "Give --inputs too."};
  std::string whyNot;
  auto samples = loadSamplesOrCarried(*artifact.plan, from, whyNot);
  sayWhyNotCarried(whyNot);
  return samples;
}

void printAboutInputs(const Samples& samples) {
  if (!samples.carriedIn.empty())
    std::cout << "on the example inputs in " << samples.carriedIn << ": nobody gave others (--inputs)\n";
  if (samples.random) std::cout << "on random inputs: nobody gave others (--inputs)\n";
  if (const auto inputs = notFiniteInputs(samples); !inputs.empty()) std::cout << inWords(inputs) << "\n";
}

}  // namespace fusescope::cli
