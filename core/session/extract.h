#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planning/directive.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "session/part_choice.h"
#include "session/runs/recorded_values.h"

namespace fusescope {

/// An input or output of a part.
struct PartValue {
  std::string name;
  TensorType type;
};

/// A part that was cut out of a network, and the files that belong to it. Nothing is written yet.
struct ExtractedPart {
  std::vector<std::string> nodes;          ///< nodes of the part, in the order of the file
  std::vector<std::string> constantNodes;  ///< those of them that only calculate values from weights and extents for
                                           ///< the others
  std::vector<PartValue> inputs, outputs;
  std::vector<std::string> frozen;  ///< inputs that are constants of the network and become weights of the part
  std::vector<std::string> samples;
  bool randomInputs = false;
  std::string whyNoValues;  ///< why the values of its inputs were not recorded; empty: they were
  /// The outputs of the part, run on the recorded inputs, compared with the same values in the whole network: for each
  /// the worst sample.
  std::vector<TensorComparison> outputsAgainstWhole;
  bool identical = false;                    ///< all outputs are equal bit by bit, in all samples
  Directives directives;                     ///< directives of the whole network that name something in the part
  std::vector<Directive> leftOut;            ///< directives of the whole network that name nothing in it
  std::vector<std::string> notes;            ///< what a user must know, in sentences
  std::vector<std::filesystem::path> files;  ///< the files that save() writes, the network first
  std::vector<std::filesystem::path> left;   ///< files of an earlier part with this name that this part does not
                                             ///< replace

  /// Writes all files. Each is replaced atomically.
  std::function<Status()> save;
};

struct ExtractOptions {
  std::filesystem::path path;  ///< the file for the network
  RecordingOptions run{};
};

/// Cuts the part that `selection` names out of the network of `artifact` (of its made cover if that is known). Then
/// runs the whole network up to the inputs of the part on `samples`, runs the part on the recorded values, and compares
/// the results. If the whole network cannot be run, and `samples` are random, the part has no values and says why.
/// Errors: those of chosenPart(); an input of the part that is not a tensor, which a .npz cannot contain; the part
/// gives other numbers than the whole network; the path would overwrite a file that the network is read from.
Result<ExtractedPart> extractPart(const Artifact& artifact, const PartSelection& selection, const Samples* samples,
                                  const ExtractOptions& options);

/// Does the same for a part that is given by its nodes.
Result<ExtractedPart> extractPart(const NetworkCutter& cutter, const Plan& plan, const NetworkPart& part,
                                  const Samples* samples, const ExtractOptions& options);

/// Returns the path for the values of sample `index` of a part at `path`: PART.npz, PART_2.npz, ….
std::filesystem::path valuesPathOf(const std::filesystem::path& path, std::size_t index);
/// Returns the path for the directives of a part at `path`: PART.directives.json.
std::filesystem::path directivesPathOf(const std::filesystem::path& path);

/// Returns {format: "fusescope.part", version, path, nodes[], go_along[], inputs[{name, type}], outputs[{name, type}],
/// frozen[], samples[], random_inputs, why_no_values, identical, against_whole[…], directives[], left_out[], notes[],
/// files[], left_files[]}.
Json toJson(const ExtractedPart& part, const std::filesystem::path& path);

}  // namespace fusescope
