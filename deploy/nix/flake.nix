# `nix run "github:OWNER/prose?dir=deploy/nix"`, and the same for `nix profile install` and inputs of other flakes.
{
  description = "Runs, checks and formats OpenProse programs, and serves editors";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      for = nixpkgs.lib.genAttrs systems;
      source = ../..;
      read = path: builtins.fromTOML (builtins.readFile (source + path));
      manifest = (read "/Cargo.toml").workspace.package;
      crate = (read "/crates/prose-cli/Cargo.toml").package;
    in
    {
      packages = for (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "prose";
            inherit (manifest) version;
            src = source;
            cargoLock.lockFile = source + "/Cargo.lock";
            cargoBuildFlags = [
              "--package"
              "prose-cli"
            ];
            buildType = "dist";
            # The tests start Git, agents and editors; `tests/run-all` runs them.
            doCheck = false;
            # Nix builds from a copy without Git, and sets the time to that of the newest file, which is 1980.
            PROSE_COMMIT = self.rev or "";
            preBuild = ''
              export SOURCE_DATE_EPOCH=${toString (self.lastModified or "")}
            '';
            nativeBuildInputs = [ pkgs.installShellFiles ];
            # The completions contain how the program was started.
            postInstall = pkgs.lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
              export PATH=$out/bin:$PATH
              prose man --output-dir man
              installManPage man/*.1
              installShellCompletion --cmd prose \
                --bash <(prose completions bash) \
                --fish <(prose completions fish) \
                --zsh <(prose completions zsh)
            '';
            meta = {
              inherit (crate) description;
              homepage = manifest.repository;
              license = with pkgs.lib.licenses; [
                mit
                asl20
              ];
              mainProgram = "prose";
            };
          };
        }
      );

      devShells = for (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.mkShell {
            packages = with pkgs; [
              cargo
              clippy
              rustfmt
              rust-analyzer
              git
              nodejs
            ];
          };
        }
      );
    };
}
