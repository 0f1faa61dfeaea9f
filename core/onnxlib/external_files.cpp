#include "onnxlib/external_files.h"

#include <algorithm>

namespace fusescope::onnxlib {
namespace fs = std::filesystem;

ExternalFiles::ExternalFiles(const fs::path& model) : m_folder(model.parent_path()) {
  if (m_folder.empty()) m_folder = ".";
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(const std::string& location) {
  auto found = m_found.find(location);
  if (found == m_found.end()) found = m_found.emplace(location, find(location)).first;
  return found->second;
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::find(const std::string& location) const {
  const auto refuse = [&](const std::string& why) {
    return Diagnostic{.message = "its external data '" + location + "' " + why};
  };
  if (location.empty()) return Diagnostic{.message = "its data is external, but no location is given"};
  const fs::path relative(location);
  const char* const inside = "; external data must be in the folder of the model";
  if (relative.is_absolute()) return refuse(std::string("is an absolute path") + inside);
  if (std::ranges::find(relative, fs::path("..")) != relative.end())
    return refuse(std::string("refers to a place outside the folder") + inside);

  std::error_code error;
  const fs::path folder = fs::canonical(m_folder, error);
  if (error) return refuse("cannot be found: " + error.message());
  const fs::path file = fs::canonical(folder / relative, error);
  if (error == std::errc::no_such_file_or_directory)
    return Diagnostic{.message = "its external data '" + location + "' is missing",
                      .help = "Put this file into the folder of the model."};
  if (error) return refuse("cannot be opened: " + error.message());
  if (std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first != folder.end())
    return refuse(std::string("is a link to a place outside the folder") + inside);

  auto mapped = MappedFile::open(folder / relative);  // opened by this name, because a link may lead elsewhere later
  if (!mapped.ok()) return refuse(mapped.error().message);
  return mapped;
}

MappedFiles ExternalFiles::opened() const {
  MappedFiles files;
  for (const auto& [location, file] : m_found)
    if (file.ok()) files.push_back(file.value());
  return files;
}

}  // namespace fusescope::onnxlib
