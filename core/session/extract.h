#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planning/directive.h"
#include "session/part_choice.h"
#include "session/recorded_values.h"
#include "session/session.h"

namespace fusescope {

/// A value at the border of a part.
struct PartValue {
  std::string name;
  TensorType type;
};

/// A part of a network that was cut out, and what stands beside it. Nothing is written yet.
struct ExtractedPart {
  std::vector<std::string> nodes;    ///< of the part, in the order of the file
  std::vector<std::string> goAlong;  ///< of them: those that make values of weights and extents alone for the others
  std::vector<PartValue> inputs, outputs;
  std::vector<std::string> frozen;  ///< inputs that are constants of the network: weights of the part
  std::vector<std::string> samples;
  bool randomInputs = false;
  std::string whyNoValues;  ///< why its inputs were not recorded; empty: they were
  /// The outputs of the part, run on what was recorded, against the values inside the whole: of each the worst sample.
  std::vector<TensorComparison> outputsAgainstWhole;
  bool identical = false;                    ///< to the bit, in all samples
  Directives directives;                     ///< of the whole that name something in the part
  std::vector<Directive> leftOut;            ///< of the whole that name nothing in it
  std::vector<std::string> notes;            ///< what a user must know, as sentences
  std::vector<std::filesystem::path> files;  ///< that save() writes, the network first
  std::vector<std::filesystem::path> left;   ///< that an earlier part of that name had beside it, and this one has not

  /// Writes all files: each is at every moment as it was or whole.
  std::function<Status()> save;
};

struct ExtractOptions {
  std::filesystem::path path;  ///< of the network to be written
  RecordingOptions run{};
};

/// Cuts the part that `wishes` names out of the network of `artifact` (of its made cover, where that is known), runs
/// the whole up to its borders on `samples`, runs the part on what was recorded, and compares. Where the whole cannot
/// be run, and `samples` are random ones, the part has no values and says why. Errors: those of chosenPart(); an input
/// of the part that is no tensor, which no .npz holds; the part gives other numbers than the whole; the path is one
/// that the network is read from.
Result<ExtractedPart> extractPart(const Artifact& artifact, const PartWishes& wishes, const Samples* samples,
                                  const ExtractOptions& options);

/// The same of a part that is known by its nodes.
Result<ExtractedPart> extractPart(const NetworkCutter& cutter, const Plan& plan, const NetworkPart& part,
                                  const Samples* samples, const ExtractOptions& options);

/// Where the values of sample `index` of a part at `path` stand: PART.npz, PART_2.npz, ….
std::filesystem::path valuesPathOf(const std::filesystem::path& path, std::size_t index);
/// Where the directives of a part at `path` stand: PART.directives.json.
std::filesystem::path directivesPathOf(const std::filesystem::path& path);

/// {format: "fusescope.part", version, path, nodes[], go_along[], inputs[{name, type}], outputs[{name, type}],
/// frozen[], samples[], random_inputs, why_no_values, identical, against_whole[…], directives[], left_out[], notes[],
/// files[], left_files[]}
Json toJson(const ExtractedPart& part, const std::filesystem::path& path);

}  // namespace fusescope
