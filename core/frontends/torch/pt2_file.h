#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mapped_file.h"
#include "frontends/torch/saved_objects.h"

namespace fusescope::torch {

/// How a .pt2 is packed. Each version of PyTorch writes one of these forms, and newer versions read all.
enum class Pt2Container {
  PlainZip,        ///< up to PyTorch 2.7: the program's JSON, and one torch.save() file each for weights and examples
  PickledWeights,  ///< PyTorch 2.8: a PT2 archive, in which weights and constants are torch.save() files
  RawWeights       ///< since PyTorch 2.9: a PT2 archive with the bytes of each storage, and JSON that describes them
};
/// "plain zip", "PT2 archive, pickled weights", "PT2 archive".
std::string_view name(Pt2Container container);

/// Returns whether the archive contains an exported program in any of these forms.
bool holdsProgram(const ZipMembers& members);
/// Returns whether the file is a network in TorchScript: a zip archive with code, which torch runs when it loads the
/// archive.
bool isTorchScript(const std::filesystem::path& path);

/// A key of what Fusescope writes into such a file. The value is a list of the names that the outputs have in a network
/// made of the program. If other operators are at the end of a program, PyTorch's exporter would otherwise give the
/// outputs other names.
inline constexpr const char* kOutputNamesKey = "fusescope.output_names";

/// A mapped .pt2 file. Not thread-safe.
class Pt2File {
 public:
  /// It is an error if the file cannot be read, if it is not a zip archive, or if it is an archive of something else
  /// (TorchScript, only weights, …), which the error names.
  static Result<Pt2File> open(const std::filesystem::path& path);

  Pt2Container container() const { return m_container; }
  const std::shared_ptr<const MappedFile>& file() const { return m_file; }
  /// Return the name of the member with the program, and its JSON.
  std::string programMember() const { return m_members.place(m_program); }
  Result<std::string> programJson() const;
  /// Return the name of the member that Fusescope writes into such a file, among those that PyTorch keeps as extra
  /// files, and its contents, which are JSON. additions() returns nothing if the member does not exist.
  std::string additionsMember() const;
  Result<std::optional<std::string>> additions() const;
  /// Returns parameters, buffers and constants by their paths. If several of them are windows on one storage, it is in
  /// memory only once, as in the file. A tensor whose bytes were left out of the file has no data.
  Result<std::map<std::string, Tensor>> tensors(CopyBudget& budget) const;
  /// Returns the arguments with which it was exported, a tuple of (arguments, keyword arguments), or nothing if the
  /// file does not contain them.
  Result<std::optional<SavedObjects>> examples() const;
  /// Checks that every member is one that is read here, or contains only bytes. The error names a member that is not:
  /// another network, compiled code, or a custom object.
  Status checkMembersKnown() const;

 private:
  Pt2File(std::shared_ptr<const MappedFile> file, ZipMembers members)
      : m_file(std::move(file)), m_members(std::move(members)) {}
  Status findProgram(const std::filesystem::path& path);
  /// Returns the name of an archive's member, which is below its folder and may depend on the model.
  std::string member(std::string_view format) const;
  bool isKnown(const std::string& name) const;
  Status addSaved(const std::string& member, CopyBudget& budget, std::map<std::string, Tensor>& into) const;
  Status addRaw(const std::string& folder, const std::string& config, CopyBudget& budget,
                std::map<std::string, Tensor>& into) const;

  std::shared_ptr<const MappedFile> m_file;
  ZipMembers m_members;
  Pt2Container m_container = Pt2Container::PlainZip;
  std::string m_root;     ///< the folder of an archive's members, with the slash
  std::string m_model;    ///< the archive's name for the program: "model"
  std::string m_program;  ///< the member that contains it
};

}  // namespace fusescope::torch
