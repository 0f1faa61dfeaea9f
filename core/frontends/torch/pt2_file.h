#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mapped_file.h"
#include "frontends/torch/saved_objects.h"

namespace fusescope::torch {

/// How a .pt2 is packed. Each PyTorch writes one of them and newer ones read all.
enum class Pt2Container {
  PlainZip,        ///< to PyTorch 2.7: the program's JSON, and a file of torch.save() each for weights and examples
  PickledWeights,  ///< PyTorch 2.8: a PT2 archive; weights and constants are files of torch.save()
  RawWeights       ///< from PyTorch 2.9 on: a PT2 archive; the bytes of each storage, and JSON that says what they are
};
/// "plain zip", "PT2 archive, pickled weights", "PT2 archive".
std::string_view name(Pt2Container container);

/// Whether the archive holds an exported program, in whichever of the ways it may be packed.
bool holdsProgram(const ZipMembers& members);
/// Whether the file is a network in TorchScript: a zip archive with code, which torch runs when it loads it.
bool isTorchScript(const std::filesystem::path& path);

/// Of what Fusescope writes into such a file: the names, a list, that the outputs have in a network made of it. Other
/// operators at the end of a program would have PyTorch's exporter call them otherwise.
inline constexpr const char* kOutputNamesKey = "fusescope.output_names";

/// A .pt2 file, mapped. For one thread.
class Pt2File {
 public:
  /// Errors: it cannot be read; it is no zip archive, or one of something else (TorchScript, weights alone, …), which
  /// is named.
  static Result<Pt2File> open(const std::filesystem::path& path);

  Pt2Container container() const { return m_container; }
  const std::shared_ptr<const MappedFile>& file() const { return m_file; }
  /// The name of the member that holds the program, and its JSON.
  std::string programMember() const { return m_members.place(m_program); }
  Result<std::string> programJson() const;
  /// The name of the member that Fusescope writes into such a file, among those that PyTorch hands on as extra files;
  /// and what it says, JSON. Nothing where there is none.
  std::string notesMember() const;
  Result<std::optional<std::string>> notes() const;
  /// Parameters, buffers and constants by their paths. Storages that several of them are windows on lie once in memory,
  /// as in the file. One whose bytes were left out of the file has no data.
  Result<std::map<std::string, Tensor>> tensors(CopyBudget& budget) const;
  /// The arguments that it was exported with, a tuple of (arguments, keyword arguments); nothing where none are in it.
  Result<std::optional<SavedObjects>> examples() const;
  /// Whether all members are of those that are read here, or hold bytes alone. Errors name one that is not: another
  /// network, code that is compiled, a custom object.
  Status checkMembersKnown() const;

 private:
  Pt2File(std::shared_ptr<const MappedFile> file, ZipMembers members)
      : m_file(std::move(file)), m_members(std::move(members)) {}
  Status findProgram(const std::filesystem::path& path);
  /// `name` of an archive's member: below its folder, of this model.
  std::string member(std::string_view format) const;
  bool isKnown(const std::string& name) const;
  Status addSaved(const std::string& member, CopyBudget& budget, std::map<std::string, Tensor>& into) const;
  Status addRaw(const std::string& folder, const std::string& config, CopyBudget& budget,
                std::map<std::string, Tensor>& into) const;

  std::shared_ptr<const MappedFile> m_file;
  ZipMembers m_members;
  Pt2Container m_container = Pt2Container::PlainZip;
  std::string m_root;     ///< the folder that an archive's members are in, with the slash
  std::string m_model;    ///< "model": what an archive calls the program
  std::string m_program;  ///< the member that holds it
};

}  // namespace fusescope::torch
