-- Neovim as the editor of a script: it writes what it shows to a file of JSON.
-- SDCRISK_SCRIPT is the script, SDCRISK_SERVER the command as JSON, SDCRISK_SHOWN the file.
local shown = {}
local command = vim.fn.json_decode(vim.env.SDCRISK_SERVER)
vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.SDCRISK_SCRIPT))
local buffer = vim.api.nvim_get_current_buf()

local config = {
  name = 'sdcRisk',
  cmd = command,
  root_dir = vim.fn.getcwd(),
  init_options = { runOnSave = true },
  on_exit = function(code) shown.status = code end,
}
local client
if vim.lsp.start then
  client = vim.lsp.start(config)
else
  client = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buffer, client)
end

local function wait(what, ready)
  if not vim.wait(30000, ready, 50) then error('waited too long for ' .. what) end
end

local function ask(method, params)
  params.textDocument = { uri = vim.uri_from_bufnr(buffer) }
  local answers, err = vim.lsp.buf_request_sync(buffer, method, params, 10000)
  if not answers then error(method .. ': ' .. tostring(err)) end
  return answers[client].result
end

local function session()
  local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
  wait('the server', function() return #clients() > 0 and clients()[1].initialized end)
  vim.cmd('write')
  wait('findings', function() return #vim.diagnostic.get(buffer) > 0 end)
  local found = vim.diagnostic.get(buffer)[1]
  shown.found = {
    line = found.lnum, column = found.col, severity = found.severity, code = found.code,
    text = vim.api.nvim_buf_get_text(buffer, found.lnum, found.col, found.end_lnum, found.end_col, {})[1],
  }
  local lenses = ask('textDocument/codeLens', {})
  shown.lenses = vim.tbl_map(function(lens) return lens.command.title end, lenses)
  local at = { line = found.lnum, character = 24 }
  shown.hover = ask('textDocument/hover', { position = at }).contents.value
  local actions = ask('textDocument/codeAction', {
    range = { start = at, ['end'] = at }, context = { diagnostics = vim.empty_dict() },
  })
  shown.actions = #actions
  vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
  vim.cmd('write')
  wait('the repair', function() return #vim.diagnostic.get(buffer) == 0 end)
  -- The command runs the script without a save.
  local answers = vim.lsp.buf_request_sync(buffer, 'workspace/executeCommand', {
    command = 'sdcRisk.checkScript', arguments = { vim.uri_from_bufnr(buffer) },
  }, 30000)
  shown.message = answers[client].result.message
  vim.lsp.get_client_by_id(client).stop()
  wait('the end', function() return shown.status ~= nil end)
end

local ok, problem = pcall(session)
if not ok then shown.problem = tostring(problem) end
vim.fn.writefile({ vim.fn.json_encode(shown) }, vim.env.SDCRISK_SHOWN)
vim.cmd('qall!')
