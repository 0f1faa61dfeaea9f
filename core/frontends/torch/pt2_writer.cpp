#include "frontends/torch/pt2_writer.h"

#include <array>

#include "base/files.h"
#include "base/json.h"
#include "base/json_splice.h"
#include "base/untrusted_json.h"
#include "base/zip_update.h"
#include "frontends/example_inputs.h"
#include "frontends/input_spec_metadata.h"
#include "frontends/torch/pt2_file.h"
#include "frontends/torch/schema_fields.h"

namespace fusescope {
namespace {

using torch::Pt2File;

/// Returns the JSON object in `text` with one more member; it is an error if it is not an object.
Result<Json> withNote(std::string_view text, const char* key, const std::string& value) {
  Json json = untrustedJson(text);
  if (!json.is_object())
    return Diagnostic{.message = "contains something other than an object, which would be lost",
                      .where = {.attribute = key}};
  json[key] = Json::parse(value);
  return json;
}

/// Returns `program` with `specs` in the `custom` metadata of its graph: a text of JSON, which may contain metadata of
/// other tools.
Result<std::string> programWith(const Pt2File& file, const std::string& program, const std::string& specs) {
  const Json json = untrustedJson(program);
  if (json.is_discarded())
    return Diagnostic{
        .message = "contains numbers that JSON does not have (NaN, Infinity), so it cannot be written again",
        .where = {.attribute = file.programMember()}};
  const Json& metadata = *TRY(torch::objectField(*TRY(torch::objectField(json, "graph_module")), "metadata"));
  const std::string custom = torch::textOr(metadata, "custom", "{}");
  const std::string changed = TRY(withNote(custom, kInputSpecsKey, specs)).dump();
  return withJsonMember(program, {"graph_module", "metadata"}, "custom", Json(changed).dump());
}

Result<std::vector<ZipAddition>> additionsTo(const Pt2File& file, const Pt2Additions& notes) {
  std::vector<ZipAddition> additions;
  std::string own = TRY(file.additions()).value_or("{}");
  for (const auto& [key, text] : {std::pair(kInputSpecsKey, &notes.inputSpecs),
                                  {kExampleInputsKey, &notes.exampleInputs},
                                  {torch::kOutputNamesKey, &notes.outputNames}})
    if (!text->empty()) own = TRY(withNote(own, key, *text)).dump();
  std::string program = notes.program;
  if (!notes.inputSpecs.empty())
    program = TRY(programWith(file, program.empty() ? TRY(file.programJson()) : program, notes.inputSpecs));
  if (!program.empty()) additions.push_back({file.programMember(), std::move(program)});
  if (own != "{}") additions.push_back({file.additionsMember(), std::move(own)});
  return additions;
}

Status write(const Pt2File& file, const std::filesystem::path& to, const Pt2Additions& notes) {
  const std::shared_ptr<const MappedFile>& source = file.file();
  if (const auto there = identityOf(to); there.ok() && there.value().device == source->identity().device &&
                                         there.value().inode == source->identity().inode)
    return Diagnostic{.message = "would be written over: the network is read from it",
                      .where = {.file = to.string()},
                      .help = "Give another name with -o."};
  const ZipUpdate update = TRY(updatedZip(source->bytes(), TRY(additionsTo(file, notes))));
  const std::array<std::span<const std::byte>, 2> pieces{
      update.kept, std::as_bytes(std::span(update.added.data(), update.added.size()))};
  const std::array<std::shared_ptr<const MappedFile>, 1> sources{source};
  return writePiecesAtomically(
      to, pieces, [&] { return source->checkIntact(); }, sources);
}

}  // namespace

Status writeExportedProgram(const std::filesystem::path& from, const std::filesystem::path& to,
                            const Pt2Additions& notes) {
  const auto file = Pt2File::open(from);
  Status written = file.ok() ? write(file.value(), to, notes) : Status(file.error());
  if (written.ok() || written.error().cancelled) return written;
  Diagnostic error = std::move(written).error();
  if (error.where.file.empty()) error.where.file = from.string();
  return error;
}

}  // namespace fusescope
