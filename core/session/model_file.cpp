#include "session/model_file.h"

#include "base/hash.h"
#include "base/json_fields.h"

namespace fusescope {
namespace fs = std::filesystem;

namespace {

Result<FileContent> contentOf(const MappedFile& file) {
  std::error_code error;
  const fs::path& path = file.identity().path;
  const fs::path absolute = fs::absolute(path, error);
  FileContent content{.path = error ? path.string() : absolute.lexically_normal().string(),
                      .content = hashBytes(file.bytes()).hex(),
                      .bytes = static_cast<std::int64_t>(file.bytes().size())};
  TRY(file.checkIntact());
  return content;
}

ModelChange changeOf(const FileContent& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file.path, error);
  if (error) return ModelChange::Missing;
  if (file.content.empty()) return ModelChange::Same;
  if (static_cast<std::int64_t>(bytes) != file.bytes) return ModelChange::Changed;
  const auto now = identify(file.path);
  return !now.ok()                             ? ModelChange::Missing
         : now.value().content == file.content ? ModelChange::Same
                                               : ModelChange::Changed;
}

Json toJson(const FileContent& file, const fs::path& folder) {
  return {{"path", relativeTo(file.path, folder)}, {"content", file.content}, {"bytes", file.bytes}};
}

Result<FileContent> fileFromJson(const Json& json, const fs::path& folder) {
  FileContent file;
  JsonFields fields(json);
  fields.require("path").read("path", file.path).read("content", file.content).read("bytes", file.bytes);
  file.path = resolved(file.path, folder);
  return fields.result(std::move(file));
}

}  // namespace

std::string ModelFile::identity() const {
  if (data.empty() || content.empty()) return content;
  KeyBuilder key;
  key.text(content);
  for (const FileContent& file : data) key.text(file.content);
  return key.hash().hex();
}

Result<ModelFile> identify(const fs::path& path) {
  return ModelFile{TRY(contentOf(*TRY(MappedFile::open(path))))};
}

Result<ModelFile> identify(const MappedFiles& files) {
  ModelFile model;
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileContent file = TRY(contentOf(*files[i]));
    if (i == 0) {
      static_cast<FileContent&>(model) = std::move(file);
    } else {
      model.data.push_back(std::move(file));
    }
  }
  return model;
}

ModelState stateOnDisk(const ModelFile& model) {
  if (const ModelChange own = changeOf(model); own != ModelChange::Same) return {own, model.path};
  for (const FileContent& file : model.data)
    if (changeOf(file) != ModelChange::Same) return {ModelChange::Changed, file.path};
  return {};
}

Json toJson(const ModelFile& model, const fs::path& folder) {
  Json json = toJson(static_cast<const FileContent&>(model), folder);
  for (const FileContent& file : model.data) json["data"].push_back(toJson(file, fs::path(model.path).parent_path()));
  return json;
}

Result<ModelFile> modelFileFromJson(const Json& json, const fs::path& folder) {
  ModelFile model{TRY(fileFromJson(json, folder))};
  JsonFields fields(json);
  const fs::path beside = fs::path(model.path).parent_path();
  fields.parseList("data", model.data, [&](const Json& file) { return fileFromJson(file, beside); });
  return fields.result(std::move(model));
}

ModelFile movedTo(ModelFile model, const fs::path& path) {
  const fs::path from = fs::path(model.path).parent_path();
  for (FileContent& file : model.data) file.path = resolved(relativeTo(file.path, from), path.parent_path());
  model.path = path.string();
  return model;
}

std::string relativeTo(const std::string& path, const fs::path& folder) {
  if (path.empty()) return path;
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path relative = absolute.lexically_relative(fs::absolute(folder, error));
  const bool below = !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : absolute.string();
}

std::string resolved(const std::string& path, const fs::path& folder) {
  if (path.empty() || fs::path(path).is_absolute()) return path;
  return (folder / path).lexically_normal().string();
}

}  // namespace fusescope
